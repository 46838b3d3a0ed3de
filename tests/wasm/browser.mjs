/* The package in Chromium, in a page of another origin than the service's and under a strict policy: browser.mjs BUILD CHROMIUM. */
import assert from 'node:assert/strict';
import { open } from '../browser/chromium.mjs';
import { corpus, everyLearner, exampleServices, online, pages, playPage, printed } from './stage.mjs';

const [examples] = await exampleServices(['service.yaml']);
let service = null, env = null;
// nothing inline, nothing evaluated; wasm-unsafe-eval lets a page compile WebAssembly, and nothing else
const web = await pages(() => `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self' ${service?.url} ${examples.url}`,
  { '/env.json': async () => JSON.stringify(env), '/users': async (query) => JSON.stringify({ accepted: await service.users(query.get('learner')) }) });
service = await everyLearner(web.origin);
const browser = await open(process.argv[3]);

const play = (page, part) => playPage(page, `${web.origin}/tests/page.html?${Math.random()}#${part}`);

try {
  env = { service: { url: service.url, learners: service.learners }, token: service.token, cases: await printed(service), corpus: corpus(), closed: examples.url };
  env.service.cases = env.cases.slice(0, 2);
  const page = await online(browser), quiet = await online(browser);
  console.log('hostile billboards', await play(page, 'suite'));
  assert.equal((await play(page, 'worker')).sent[0].status, 'taken');

  // a reload does not make a second report
  const before = await service.users('watched'), first = quiet.requests.length;
  assert.deepEqual(await play(quiet, 'visit'), { left: 1, waiting: 0, problem: null });
  for (let i = 0; i < 3; i++) assert.deepEqual(await play(quiet, 'visit'), { left: 0, waiting: 1, problem: 'EXHAUSTED' });
  assert.equal(await service.users('watched'), before, 'nothing has left yet');
  const { sent } = await play(quiet, 'send');
  assert.deepEqual(sent.map((s) => s.status), ['taken']);
  assert.equal((await play(quiet, 'send')).sent.length, 0);
  assert.equal(await service.users('watched'), before + 1);

  // nothing leaves the page but what is documented
  const allowed = [/^\/tests\/(page\.html\?.*|page\.mjs|suite\.mjs)$/, /^\/package\/(client|core|storage)\.js$/, /^\/package\/tacit-client\.wasm$/, /^\/env\.json$/, /^\/favicon\.ico$/];
  const documented = [/^\/v1\/billboard\?learner=watched$/, /^\/v1\/reports$/];
  const seen = quiet.requests.slice(first);
  for (const request of seen) {
    const at = new URL(request), path = at.pathname + at.search;
    assert.ok(at.origin === web.origin ? allowed.some((a) => a.test(path)) : at.origin === service.url && documented.some((d) => d.test(path)), `the page asks for ${request}`);
  }
  assert.equal(seen.filter((r) => r === `${service.url}/v1/reports`).length, 1, 'one report');
  assert.deepEqual(quiet.problems, []);

  // an origin that is not declared is told so
  assert.deepEqual(await play(page, 'elsewhere'), { code: 'OFFLINE' });
} finally {
  await browser.close();
  await service.stop();
  await examples.stop();
  await web.close();
}
