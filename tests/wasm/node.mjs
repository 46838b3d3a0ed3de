/* The package in node, as it would be installed: node.mjs BUILD. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, corpus, everyLearner, printed, teach } from './stage.mjs';
import * as suite from './suite.mjs';

const at = (name) => pathToFileURL(join(build, 'wasm', name)).href;
const client = await import(at('client.js')), { instantiate } = await import(at('core.js')), { fileStorage } = await import(at('node.js'));
const wasm = readFileSync(join(build, 'wasm/tacit-client.wasm')), module = await WebAssembly.compile(wasm);

// one import, randomness; no file, no clock, no environment
assert.deepEqual(WebAssembly.Module.imports(module), [{ module: 'tacit', name: 'random', kind: 'function' }]);
for (const name of ['client.js', 'core.js', 'storage.js', 'node.js']) // nor one in the modules: a clock that is changed changes nothing
  assert.ok(!/\beval\(|new Function|Math\.random|\bDate\b/.test(readFileSync(join(build, 'wasm', name), 'utf8')), name);

// all that a page loads, as it travels
const loaded = ['client.js', 'core.js', 'storage.js', 'tacit-client.wasm'].map((name) => gzipSync(readFileSync(join(build, 'wasm', name)), { level: 9 }).length);
const together = loaded.reduce((a, b) => a + b);
assert.ok(together <= 260000, `a page would load ${together} bytes, gzipped; at most 260,000 are promised`);
console.log(`${together} bytes gzipped, ${loaded.at(-1)} of them WebAssembly`);

const service = await everyLearner('http://127.0.0.1:1'), box = mkdtempSync(join(tmpdir(), 'tacit-node-'));
let n = 0;
try {
  service.cases = await printed(service);
  const env = { ...client, instantiate, module, service, token: service.token, users: service.users, cases: service.cases, corpus: corpus() };
  await suite.sameBytes(env);
  console.log(`the same bytes for ${service.learners.length} learners`, await suite.hostile(env));
  for (const storage of [client.memoryStorage, () => fileStorage(join(box, String(n++)))]) {
    await suite.lives({ ...env, storage, only: storage === client.memoryStorage ? undefined : ['counts', 'back'] });
    await suite.refuses({ ...env, storage });
    await suite.survives({ ...env, storage });
  }
  await assert.rejects(client.Client.open(`${service.url}/v1/billboard?learner=counts`, { epsilon: 1, delta: 0 }), { code: 'STORAGE' });
  await teach(service, client, 8);
  const later = await printed(service);
  assert.ok(later.filter((c, i) => c.billboard !== service.cases[i].billboard).length > later.length / 2, 'the service has learned');
  await suite.sameBytes({ ...env, cases: later });
  console.log('the same bytes after the service has learned');
} finally {
  await service.stop();
  rmSync(box, { recursive: true, force: true });
}
