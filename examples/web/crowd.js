/* Simulated visitors, each with a device that forgets: opens the billboard, acts, reports, sends. Six at a time, which is what
 * a browser opens connections for. The page says how many; the worker says how they fared. */
import { Client, memoryStorage } from '/demo/client.js';
import { learner, tastes } from '/demo/tastes.js';

const LANES = 6, EVERY_MS = 250;
let wanted = 0, token = '';

/* The billboard is fetched now and then, as a cache would; every device reads it for itself. */
let board = null, fetched = 0;
async function billboard(url, options) {
  if (options?.method === 'POST') return fetch(url, options);
  if (board === null || performance.now() - fetched > EVERY_MS) {
    fetched = performance.now();
    board = await (await fetch(url, options)).text();
  }
  return new Response(board);
}

const uniform = () => crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;

async function visit() {
  const client = await Client.open(`${self.location.origin}/v1/billboard?learner=${learner}`, { epsilon: 2, delta: 0, token, storage: memoryStorage(), fetch: billboard });
  const time = uniform() < 0.5 ? 0 : 1, { action } = client.act({ state: time });
  const liked = uniform() < tastes[time][action];
  await client.report({ states: [time], actions: [action], rewards: [liked ? 1 : 0] });
  const { sent, problem } = await client.send();
  client.close();
  if (sent.length === 0) throw problem;
  return { liked, taken: sent[0].status === 'taken' };
}

async function lane(tally) {
  while (wanted > 0) {
    wanted--;
    const { liked, taken } = await visit();
    tally.visitors++;
    tally.liked += liked ? 1 : 0;
    if (!taken) wanted = 0;
  }
}

self.onmessage = async ({ data }) => {
  if (data.stop) {
    wanted = 0;
    return;
  }
  ({ token } = data);
  wanted = data.visitors;
  const tally = { visitors: 0, liked: 0 };
  const tell = () => {
    if (tally.visitors > 0) postMessage({ ...tally, board: board === null ? null : JSON.parse(board) });
    tally.visitors = tally.liked = 0;
  };
  const timer = setInterval(tell, EVERY_MS);
  try {
    await Promise.all(Array.from({ length: LANES }, () => lane(tally)));
    tell();
    postMessage({ done: true });
  } catch (e) {
    wanted = 0;
    postMessage({ done: true, problem: e.message });
  } finally {
    clearInterval(timer);
  }
};
