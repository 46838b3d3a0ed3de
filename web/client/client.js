/* The user's side of local privacy in a page, a worker or node: reads the billboard, checks its terms, acts by it,
 * makes the one report (or as many as the learner declares) and sends it.
 *
 * What is kept of a person is one record in the page's storage: the state of the C client, which counts the reports
 * made, and the reports that the service has not answered yet. A report is written there before any of it can leave,
 * in the same step that counts it; so a reload, a crash or a second tab makes no second report, and what was made is
 * sent again with the same key until the service has it. Requests that leave: GET of the billboard, POST to /v1/reports. */
import { TacitError, instantiate } from './core.js';
import { memoryStorage, pageStorage } from './storage.js';

const FORMAT = 1, MOST_BYTES = 1 << 26; // of a billboard: a stated choice, 64 MiB
const ATTEMPTS = 3, FIRST_WAIT_MS = 500, LONGEST_WAIT_MS = 10000, PATIENCE_MS = 30000;

let shared = null; // the module, compiled once for all clients

async function readModule(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (ArrayBuffer.isView(source) || source instanceof ArrayBuffer) return WebAssembly.compile(source);
  const url = new URL(source ?? './tacit-client.wasm', import.meta.url);
  if (url.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const answer = await fetch(url, { credentials: 'same-origin' });
  if (!answer.ok) throw new TacitError('WASM', `${url} is answered with ${answer.status}; the package's tacit-client.wasm must be served beside client.js`);
  // while it arrives, where the server calls it what it is
  if (answer.headers.get('Content-Type') === 'application/wasm') return WebAssembly.compileStreaming(answer);
  return WebAssembly.compile(await answer.arrayBuffer());
}

async function core(source) {
  if (source !== undefined) return instantiate(await readModule(source));
  if (shared !== null && (await shared).dead) shared = null;
  shared ??= readModule().then((module) => instantiate(module));
  shared.catch(() => { shared = null; }); // it may be reached the next time
  return shared;
}

/* All of an answer, or an error if there is more than that. */
async function readBytes(answer, most) {
  const pieces = [];
  let size = 0;
  for (const reader = answer.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new TacitError('TOO_LARGE', `the billboard has more than ${most} bytes`);
    }
    pieces.push(value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

async function ask(f, url, options) {
  try {
    return await f(url, { credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer', ...options });
  } catch (e) {
    throw new TacitError('OFFLINE', `${new URL(url).origin} cannot be reached (${e.message}); if it can, it may not have declared this page's origin`, { cause: e });
  }
}

/* The service's own words, where it has some. */
async function refusal(answer) {
  const text = await answer.text().catch(() => '');
  let said = null;
  try {
    said = JSON.parse(text).error;
  } catch { /* something in between has answered */ }
  return new TacitError(said?.code ?? 'HTTP', said?.message ?? `the service answers ${answer.status}`, { status: answer.status });
}

const isCount = (n, below) => Number.isSafeInteger(n) && n >= 0 && n < below;
const bad = (message) => new TacitError('BAD_ARGUMENT', message);

function numbersOf(list, name, length, Kind) {
  if (list === undefined || list === null || typeof list.length !== 'number') throw bad(`${name} is ${list}, expected ${length} numbers`);
  if (list.length !== length) throw bad(`${name} has ${list.length} numbers, expected ${length}`);
  const out = new Kind(length);
  for (let i = 0; i < length; i++) {
    if (typeof list[i] !== 'number') throw bad(`${name}[${i}] is ${String(list[i])}, expected a number`);
    // what is outside the learner's domain is cut by the client; what a 32-bit number cannot hold becomes the largest one, which is outside too
    out[i] = Kind === Uint32Array && !isCount(list[i], 2 ** 32) ? 0xffffffff : list[i];
  }
  return out;
}

function checkTerms(terms) {
  for (const name of ['epsilon', 'delta'])
    if (typeof terms?.[name] !== 'number' || Number.isNaN(terms[name]) || terms[name] < 0)
      throw bad(`${name} is ${String(terms?.[name])}, expected the largest ${name} that a report may cost, for example {epsilon: 2, delta: 1e-6}`);
  return { epsilon: terms.epsilon, delta: terms.delta, memory: terms.memory ?? 0 };
}

function findStorage(given) {
  if (given !== undefined) return given;
  if (globalThis.indexedDB !== undefined) return pageStorage();
  throw new TacitError('STORAGE', 'there is no IndexedDB here, and a device that forgets its reports would make them again: give a storage, in node for example fileStorage(directory) of tacit-client/node');
}

/* --- The record: what is kept of a person and a learner -------------------------------------------------------- */

const EMPTY = { format: FORMAT, state: null, queue: [] };

function readRecord(text) {
  if (text === undefined) return EMPTY;
  let record = null;
  try {
    record = JSON.parse(text);
  } catch { /* damaged */ }
  const isText = (v) => typeof v === 'string';
  if (record?.format !== FORMAT || !(record.state === null || isText(record.state)) || !Array.isArray(record.queue) ||
      !record.queue.every((r) => isText(r?.key) && isText(r?.body)))
    throw new TacitError('CORRUPT', "the device's record is damaged; without it the reports that were made cannot be counted, so no more are made");
  return record;
}

const toText = (bytes) => {
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
};
const toBytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/* Removes what the service has answered, whatever else happened to the record meanwhile. */
async function forget(storage, place, key) {
  for (;;) {
    const text = await storage.read(place), record = readRecord(text);
    const queue = record.queue.filter((r) => r.key !== key);
    if (queue.length === record.queue.length) return;
    if (await storage.swap(place, text, JSON.stringify({ ...record, queue }))) return;
  }
}

/* --- Sending ---------------------------------------------------------------------------------------------------- */

const wait = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
});

/* One report, some times. The same key and the same bytes each time: the service counts them once. */
async function post(link, report, signal) {
  let problem = null, pause = FIRST_WAIT_MS;
  for (let attempt = 0; attempt < link.attempts; attempt++) {
    if (attempt > 0) await wait(Math.min(pause, LONGEST_WAIT_MS), signal);
    pause *= 2;
    try {
      const limit = AbortSignal.timeout(PATIENCE_MS);
      const answer = await ask(link.fetch, link.reports, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': report.key, ...(link.token === undefined ? {} : { Authorization: `Bearer ${link.token}` }) },
        body: report.body,
        signal: signal === undefined ? limit : AbortSignal.any?.([signal, limit]) ?? signal,
      });
      const said = answer.status === 202 ? await answer.json().catch(() => null) : null;
      if (typeof said?.status === 'string') return { status: said.status };
      problem = said === null && answer.status !== 202 ? await refusal(answer) : new TacitError('HTTP', 'the answer does not say what has become of the report', { status: 202 });
      if (answer.status !== 202 && answer.status !== 429 && answer.status < 500) return { problem, final: true };
      pause = Math.max(pause, 1000 * (Number(answer.headers.get('Retry-After')) || 0));
    } catch (e) {
      if (signal?.aborted) throw e;
      problem = e;
    }
  }
  return { problem, final: false };
}

/* Everything that waits. What the service does not take now stays where it is. */
async function sendAll(link, storage, place, signal) {
  const { queue } = readRecord(await storage.read(place));
  const outcome = { sent: [], waiting: 0 };
  let refused = null;
  for (const report of queue) {
    const { status, problem, final } = await post(link, report, signal);
    if (status !== undefined) {
      await forget(storage, place, report.key);
      outcome.sent.push({ key: report.key, status });
      continue;
    }
    outcome.waiting++;
    outcome.problem ??= problem;
    if (final) refused ??= problem;
  }
  if (refused !== null) throw Object.assign(refused, outcome);
  return outcome;
}

function linkTo(billboardUrl, options) {
  const base = globalThis.location?.href;
  const url = new URL(billboardUrl, base);
  if (url.username !== '' || url.password !== '') throw bad('the billboard\'s address has a password in it');
  const learner = url.searchParams.get('learner') ?? '';
  return {
    url: url.href,
    learner,
    // of all that an address can say, where the billboard is and whose it is
    place: `${url.origin}${url.pathname}?learner=${encodeURIComponent(learner)}${options.person === undefined ? '' : `#${options.person}`}`,
    reports: new URL('reports', url).href,
    token: options.token,
    attempts: options.attempts ?? ATTEMPTS,
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
  };
}

/* --- The client ------------------------------------------------------------------------------------------------- */

const lost = new FinalizationRegistry(({ module, client }) => module.close(client));

export class Client {
  #module;
  #client;
  #link;
  #storage;
  #text; // of the record that the client began with
  #saving = Promise.resolve();
  #made = false;

  /** Fetches the billboard, checks that it asks for no more than the terms, and opens a client. */
  static async open(billboardUrl, options = {}) {
    const terms = checkTerms(options), link = linkTo(billboardUrl, options), storage = findStorage(options.storage);
    const [module, answer] = await Promise.all([core(options.wasm), ask(link.fetch, link.url, { signal: options.signal })]);
    if (!answer.ok) throw await refusal(answer);
    const billboard = await readBytes(answer, MOST_BYTES);
    return Client.#begin(module, billboard, terms, link, storage);
  }

  static async #begin(module, billboard, terms, link, storage) {
    const text = await storage.read(link.place), { state } = readRecord(text);
    const client = new Client();
    client.#client = module.open(billboard, terms, state === null ? null : toBytes(state));
    client.#module = module;
    client.#link = link;
    client.#storage = storage;
    client.#text = text;
    lost.register(client, { module, client: client.#client }, client);
    const { learner } = client.facts;
    if (link.learner !== '' && learner !== link.learner) {
      client.close();
      throw new TacitError('WRONG_PLAN', `the billboard is of '${learner}', but '${link.learner}' was asked for`);
    }
    return client;
  }

  /** Sends what an earlier page has left, without a billboard: reports keep the terms they were made under. */
  static async flush(billboardUrl, options = {}) {
    const link = linkTo(billboardUrl, options);
    return sendAll(link, findStorage(options.storage), link.place, options.signal);
  }

  #open() {
    if (this.#client === 0) throw bad('this client is closed');
    return this.#client;
  }

  /** What the billboard says about its learner, and how many reports this person has made. */
  get facts() {
    const { monitored, ...facts } = this.#module.facts(this.#open());
    facts.left = this.#made ? 0 : facts.visits - facts.made;
    return Object.freeze(facts);
  }

  /** The billboard's action: {state} or {features}, and {step} where episodes have several. */
  act({ step = 0, state = 0, features } = {}) {
    const { perSituation, horizon } = this.facts;
    if (!isCount(step, horizon)) throw bad(`step is ${String(step)}, expected a whole number below ${horizon}`);
    if (typeof state !== 'number') throw bad(`state is ${String(state)}, expected a number`);
    const numbers = perSituation > 0 ? numbersOf(features, 'features', perSituation, Float64Array) : null;
    return this.#module.act(this.#open(), step, isCount(state, 2 ** 32) ? state : 0xffffffff, numbers);
  }

  /** Makes the report on an episode, and counts and keeps it before anything can leave. */
  report(episode) {
    const saved = this.#report(episode ?? {});
    this.#saving = saved.catch(() => {}); // send() waits for it; who made it hears of the failure
    return saved;
  }

  async #report({ states, actions, rewards, features }) {
    const { horizon, perSituation } = this.facts, one = horizon === 1;
    // an episode may end early: in a state that means the end, and is never left
    const steps = actions?.length > 0 && actions.length < horizon ? actions.length : horizon;
    if (this.#made) throw new TacitError('EXHAUSTED', 'this client has made its report; send that one again');
    const made = this.#module.report(this.#open(), {
      actions: numbersOf(actions, 'actions', steps, Uint32Array),
      rewards: numbersOf(rewards, 'rewards', steps, Float64Array),
      // what would follow the only step is not looked at
      states: perSituation > 0 ? null : numbersOf(one && states?.length === 1 ? [...states, ...states] : states, 'states', steps + 1, Uint32Array),
      features: perSituation > 0 ? numbersOf(one && features?.length === perSituation ? [...features, ...features] : features, 'features', (steps + 1) * perSituation, Float64Array) : null,
      length: steps < horizon ? steps : 0,
    });
    this.#made = true;
    const { body, key, cut } = made, before = readRecord(this.#text);
    for (let text = this.#text; ;) {
      const record = readRecord(text);
      if (record.state !== before.state)
        throw new TacitError('EXHAUSTED', 'another page of this device has reported meanwhile; this report is discarded');
      const after = JSON.stringify({ format: FORMAT, state: toText(made.state), queue: [...record.queue, { key, body }] });
      if (await this.#storage.swap(this.#link.place, text, after)) return Object.freeze({ body, key, cut });
      text = await this.#storage.read(this.#link.place);
    }
  }

  /** How many reports of this person the service has not answered yet. */
  async waiting() {
    await this.#saving;
    return readRecord(await this.#storage.read(this.#link.place)).queue.length;
  }

  /** Sends what waits, with the keys it was made with. What cannot be sent now waits for the next time. */
  async send({ signal } = {}) {
    await this.#saving;
    return sendAll(this.#link, this.#storage, this.#link.place, signal);
  }

  /** Frees the memory, wiped. What waits stays in the storage. */
  close() {
    if (this.#client === 0) return;
    lost.unregister(this);
    this.#module.close(this.#client);
    this.#client = 0;
  }
}

export { TacitError, memoryStorage, pageStorage };
