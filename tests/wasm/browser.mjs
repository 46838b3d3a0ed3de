/* The package in Chromium, in a page of another origin than the service's and under a strict policy: browser.mjs BUILD CHROMIUM. */
import assert from 'node:assert/strict';
import { open } from '../browser/chromium.mjs';
import { corpus, everyLearner, exampleServices, online, pages, playPage, printed } from './stage.mjs';

const [examples] = await exampleServices(['service.yaml']);
let service = null, env = null, policy = '';
const met = new Map(); // pages that have opened their clients ask for a name that two of them share
const meet = (name) => {
  const [pair] = name.split('.');
  met.set(pair, (met.get(pair) ?? new Set()).add(name));
  return met.get(pair).size;
};
// nothing inline, nothing evaluated; wasm-unsafe-eval lets a page compile WebAssembly, and nothing else
const web = await pages(() => `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self' ${service?.url} ${examples.url}${policy}`,
  { '/env.json': async () => JSON.stringify(env), '/together': async (query) => JSON.stringify({ here: meet(query.get('name')) }),
    '/users': async (query) => JSON.stringify({ accepted: await service.users(query.get('learner')) }) });
service = await everyLearner(web.origin);
const browser = await open(process.argv[3]);

const play = (page, part, more = '') => playPage(page, `${web.origin}/tests/page.html?${Math.random()}${more}#${part}`);

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

  // two tabs at once, with the same record before their eyes: one report is made, both send it, it counts once
  const tabs = [page, quiet], pair = (part) => Promise.all(tabs.map((t, i) => play(t, part, `&person=pair&together=pair.${i}`)));
  const both = await pair('visit');
  assert.deepEqual(both.map((b) => b.left), [1, 1]);
  assert.deepEqual(both.map((b) => b.problem).sort(), ['EXHAUSTED', null]);
  const sendings = (await pair('send')).flatMap((s) => s.sent.map(({ key }) => key));
  assert.ok(sendings.length >= 1 && new Set(sendings).size === 1, sendings.join());
  assert.equal(await service.users('watched'), before + 2);

  // no network, twice: the report waits, leaves once, and a second spell changes nothing
  assert.equal((await play(page, 'visit', '&person=train')).problem, null);
  for (const [away, sent] of [[true, 0], [true, 0], [false, 1], [true, 0], [false, 0]]) {
    await page.send('Network.setBlockedURLs', { urls: away ? [`${service.url}/v1/reports`] : [] });
    const outcome = await play(page, 'send', '&person=train');
    assert.deepEqual([outcome.sent.length, outcome.waiting], [sent, away && sent === 0 && (await service.users('watched')) === before + 2 ? 1 : 0], JSON.stringify(outcome));
  }
  assert.equal(await service.users('watched'), before + 3);

  // storage that is full, in an origin that has kept nothing so far, or denied, in a page without an origin, is an error,
  // after which no report leaves (suite.mjs)
  const other = web.origin.replace('127.0.0.1', 'localhost'), keep = () => playPage(page, `${other}/tests/page.html?${Math.random()}#keep`);
  await page.send('Storage.overrideQuotaForOrigin', { origin: other, quotaSize: 1 });
  assert.deepEqual(await keep(), { code: 'STORAGE', kept: null });
  await page.send('Storage.overrideQuotaForOrigin', { origin: other });
  policy = '; sandbox allow-scripts';
  assert.deepEqual(await keep(), { code: 'STORAGE' });
  policy = '';
  assert.deepEqual(await play(page, 'keep'), { code: null, kept: 'text' });

  // storage that the person clears: the device has forgotten, as the document says
  await page.send('Storage.clearDataForOrigin', { origin: web.origin, storageTypes: 'all' });
  assert.deepEqual(await play(page, 'visit', '&person=pair'), { left: 1, waiting: 0, problem: null });
  assert.equal(await service.users('watched'), before + 3, 'what was not sent is forgotten, too');

  // an origin that is not declared is told so
  assert.deepEqual(await play(page, 'elsewhere'), { code: 'OFFLINE' });
} finally {
  await browser.close();
  await service.stop();
  await examples.stop();
  await web.close();
}
