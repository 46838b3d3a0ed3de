/* What the tests of the package share: a running service with every local learner, the reports that libtacit_client makes
 * with a seed, and a web server for pages under a strict policy. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tab } from '../browser/chromium.mjs';

export const here = dirname(fileURLToPath(import.meta.url));
export const build = process.argv[2];
const tacit = join(build, 'tacit');

export function command(...args) {
  const ran = spawnSync(args[0], args.slice(1), { encoding: 'utf8' });
  assert.equal(ran.status, 0, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

/** Starts `tacit serve` with this file, in a directory of its own with the tables beside it. */
export async function serve(yaml, tables, scopes = 'report', limits = []) {
  const box = mkdtempSync(join(tmpdir(), 'tacit-wasm-'));
  const file = join(box, 'service.yaml');
  writeFileSync(file, yaml);
  for (const path of tables) copyFileSync(path, join(box, path.split('/').at(-1)));
  const token = command(tacit, 'token', 'create', file, '--name', 'page', '--scopes', scopes, ...limits).trim();
  const reader = command(tacit, 'token', 'create', file, '--name', 'reader', '--scopes', 'read').trim();
  const child = spawn(tacit, ['serve', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await new Promise((resolve, reject) => {
    let said = '';
    const hear = (piece) => {
      said += piece;
      const found = /serving on (http:\S+)/.exec(said);
      if (found) resolve(found[1]);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', (code) => reject(new Error(`the service ended with ${code}: ${said}`)));
  });
  const stop = async () => {
    const ended = new Promise((resolve) => { child.once('exit', resolve); });
    child.kill('SIGTERM');
    await ended;
    rmSync(box, { recursive: true, force: true });
  };
  const state = async (learner) => {
    const { learners } = await (await fetch(`${url}/v1/learners`, { headers: { Authorization: `Bearer ${reader}` } })).json();
    return learners.find((l) => l.name === learner);
  };
  const users = async (learner) => (await state(learner)).accepted;
  const learned = async (learner) => {
    for (const end = Date.now() + 60000; Date.now() < end; await new Promise((resolve) => { setTimeout(resolve, 20); })) {
      const { users: n, accepted } = await state(learner);
      if (n === accepted) return n;
    }
    throw new Error(`${learner} does not learn`);
  };
  return { url, token, reader, users, learned, stop };
}

const tables = readdirSync(here).filter((f) => f.endsWith('.csv')).map((f) => join(here, f));

/** The services of examples/service. */
export async function exampleServices(names) {
  const folder = join(here, '../../examples/service'), beside = readdirSync(folder).filter((f) => f.endsWith('.csv')).map((f) => join(folder, f));
  return Promise.all(names.map((name) => serve(readFileSync(join(folder, name), 'utf8').replace(/127\.0\.0\.1:\d+/, '127.0.0.1:0'), beside)));
}

/** A tab that may use the network. */
export async function online(browser, options = {}) {
  const made = await tab(browser, options);
  await made.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  return made;
}

/** The reports that wait in a page's storage. */
export const queued = (page) => page.ask(`new Promise((resolve) => { const r = indexedDB.open('tacit-client'); r.onsuccess = () => { const g = r.result.transaction('devices').objectStore('devices').getAll(); g.onsuccess = () => resolve(g.result.map((t) => JSON.parse(t).queue).flat()); }; })`);

/** Loads a page that says in #outcome what has become of it, and waits for that. */
export async function playPage(page, address) {
  await page.go(address);
  for (const end = Date.now() + 120000; Date.now() < end; await new Promise((resolve) => { setTimeout(resolve, 20); })) {
    const text = await page.ask("document.getElementById('outcome')?.textContent ?? 'running'");
    if (text === 'running') continue;
    const outcome = JSON.parse(text);
    assert.equal(outcome.problem, undefined, `${address}: ${outcome.problem}`);
    return outcome.done;
  }
  throw new Error(`${address} does not end; ${page.problems.join('\n')}`);
}

/** The service with every local learner; none that `tacit agents` lists is missing. */
export async function everyLearner(origin) {
  const yaml = readFileSync(join(here, 'service.yaml'), 'utf8').replace('@ORIGIN@', origin);
  const kinds = JSON.parse(command(tacit, 'agents', '--json')).filter((a) => a.models.some((m) => m.startsWith('local'))).map((a) => a.name);
  const aliases = ['auto', 'explore-commit'];
  for (const kind of kinds) assert.ok(aliases.includes(kind) || yaml.includes(`{kind: ${kind},`), `${kind} is local, and service.yaml does not have it`);
  assert.ok(kinds.length > 15, kinds.join());
  const service = await serve(yaml, tables);
  service.learners = [...yaml.matchAll(/\{name: ([a-z-]+),/g)].map((m) => m[1]).filter((name) => name !== 'joint');
  return service;
}

/** Billboards as they are now, and what the C client prints for them with two seeds. */
export async function printed(service) {
  const cases = [];
  for (const learner of service.learners) {
    const billboard = await (await fetch(`${service.url}/v1/billboard?learner=${learner}`)).text();
    for (const seed of [1, 20261117]) {
      const ran = spawnSync(join(build, 'tests/wasm/seeded_report'), [String(seed)], { input: billboard, encoding: 'utf8', maxBuffer: 1 << 26 });
      assert.equal(ran.status, 0, `${learner}: ${ran.stdout}${ran.stderr}`);
      cases.push({ learner, seed, billboard, printed: ran.stdout });
    }
  }
  return cases;
}

/** Hostile billboards of the fuzz target, and those that it was made of. */
export function corpus() {
  const folder = join(here, '../fuzz/corpus/billboard');
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json', '.css': 'text/css' };

/** A web server for pages: files of the package and of the tests, and answers that are made on request. */
export async function pages(policy, made = {}, roots = { '/package/': join(build, 'wasm'), '/tests/': here }) {
  const asked = [];
  const server = createServer(async (request, answer) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x'), path = normalize(pathname);
    asked.push(path);
    const root = Object.keys(roots).find((r) => path.startsWith(r));
    let body = (await made[path]?.(searchParams)) ?? null;
    if (body === null && root) {
      try {
        body = readFileSync(join(roots[root], path.slice(root.length)));
      } catch { /* 404 */ }
    }
    answer.writeHead(body === null ? 404 : 200, { 'Content-Type': TYPES[extname(path)] ?? 'text/plain', 'Content-Security-Policy': policy(), 'Cache-Control': 'no-store',
      'Access-Control-Allow-Origin': '*' }); // for pages without an origin, too
    answer.end(body ?? 'no such file');
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address();
  return { origin: `http://127.0.0.1:${port}`, asked, close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}

/** Some reports of every learner, so that billboards are no longer those of the beginning. */
export async function teach(service, { Client, memoryStorage }, n) {
  for (const learner of service.learners) {
    const before = await service.users(learner);
    for (let i = 0; i < n; i++) {
      const client = await Client.open(`${service.url}/v1/billboard?learner=${learner}`, { epsilon: 2, delta: 1e-5, token: service.token, storage: memoryStorage() });
      const { horizon, states, perSituation } = client.facts;
      const path = Array.from({ length: horizon + 1 }, (_, h) => (h * i + i) % Math.max(states, 1)), features = Array.from({ length: (horizon + 1) * perSituation }, (_, k) => 0.1 * ((k * i) % 3));
      const actions = Array.from({ length: horizon }, (_, h) => client.act({ step: h, state: path[h], features: features.slice(h * perSituation, (h + 1) * perSituation) }).action);
      await client.report({ ...(perSituation > 0 ? { features } : { states: path }), actions, rewards: actions.map((a) => (a === 0 ? 1 : 0.25)) });
      const { sent } = await client.send();
      assert.ok(['taken', 'late'].includes(sent[0].status), `${learner}: ${JSON.stringify(sent)}`);
      client.close();
    }
    assert.ok((await service.learned(learner)) > before, learner);
  }
}
