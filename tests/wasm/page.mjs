/* In the page: what the driver (browser.mjs) asks for by the address's fragment. */
import * as client from '/package/client.js';
import { instantiate } from '/package/core.js';
import * as suite from './suite.mjs';

const { memoryStorage, pageStorage } = client;
const asked = new URLSearchParams(location.search), person = asked.get('person') ?? undefined, together = asked.get('together');
const say = (outcome) => { document.getElementById('outcome').textContent = JSON.stringify(outcome); };

async function environment() {
  const env = await (await fetch('/env.json')).json();
  const wasm = async () => (await fetch('/package/tacit-client.wasm')).arrayBuffer();
  const users = async (learner) => (await (await fetch(`/users?learner=${learner}`)).json()).accepted;
  let n = 0;
  // a place of its own for each: the page's storage remembers
  const storage = () => {
    const kept = pageStorage(), own = `test ${n++} `;
    return { read: (key) => kept.read(own + key), swap: (key, before, after) => kept.swap(own + key, before, after) };
  };
  return { ...client, ...env, instantiate, module: await WebAssembly.compile(await wasm()), wasm, users, storage };
}

const parts = {
  suite: async () => {
    const env = await environment();
    await suite.sameBytes(env);
    const tally = await suite.hostile(env);
    await suite.lives(env);
    await suite.refuses(env);
    await suite.survives(env);
    return tally;
  },
  worker: async () => {
    const worker = new Worker('/tests/worker.mjs', { type: 'module' });
    const outcome = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (e) => reject(new Error(`the worker: ${e.message}`));
    });
    if (outcome.problem) throw new Error(`the worker: ${outcome.problem}`);
    return outcome;
  },
  // a page that lives an episode and stops before it sends; loaded again it has nothing more to report
  visit: async () => {
    const { service, token } = await environment();
    const device = await client.Client.open(`${service.url}/v1/billboard?learner=watched`, { epsilon: 2, delta: 0, token, person });
    while (together) { // the pages that were opened with this one have it as well
      const { here } = await (await fetch(`/together?name=${together}`)).json();
      if (here >= 2) break;
      await new Promise((resolve) => { setTimeout(resolve, 10); });
    }
    const { left, horizon } = device.facts, waiting = await device.waiting();
    let problem = null;
    try {
      const states = Array.from({ length: horizon + 1 }, () => 1);
      const actions = states.slice(1).map((state, step) => device.act({ state, step }).action);
      await device.report({ states, actions, rewards: actions.map(() => 1) });
    } catch (e) {
      problem = e.code;
    }
    return { left, waiting, problem };
  },
  send: async () => {
    const { service, token } = await environment();
    return client.Client.flush(`${service.url}/v1/billboard?learner=watched`, { token, person, attempts: 1 });
  },
  keep: async () => {
    const storage = pageStorage(), code = await storage.swap('x', undefined, 'text').then(() => null, (e) => e.code);
    return { code, kept: await storage.read('x').then((text) => text ?? null, () => undefined) };
  },
  elsewhere: async () => {
    const { closed, token } = await environment();
    try {
      await client.Client.open(`${closed}/v1/billboard?learner=river-local`, { epsilon: 2, delta: 1, token, storage: memoryStorage() });
    } catch (e) {
      return { code: e.code };
    }
    return { code: null };
  },
  measure: async () => suite.measure(await environment()),
};

try {
  say({ done: await parts[location.hash.slice(1)]() });
} catch (e) {
  say({ problem: `${e.message}\n${e.stack}` });
}
