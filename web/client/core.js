/* The C client as WebAssembly: memory, texts and errors, and nothing else. src/wasm/flat.c is the other side.
 *
 * The module asks for one thing, random bytes. The package gives it crypto.getRandomValues and has no way to
 * give it anything else; tests load this file by its path and bring bytes of their own. */

/** An error of the library, of storage or of the service. `code` is a status of the library (BAD_EPSILON, …),
 * a code of the service (no_learner, …), or one of those that docs/how-to/browser.md lists. */
export class TacitError extends Error {
  constructor(code, message, more = {}) {
    super(message);
    this.name = 'TacitError';
    this.code = code;
    Object.assign(this, more);
  }
}

const FACTS = ['epsilon', 'delta', 'monitorEpsilon', 'monitorDelta', 'states', 'actions', 'horizon', 'perSituation',
  'bound', 'version', 'visits', 'apart', 'made', 'monitored'];

/** Random bytes from the system: at most 65,536 at a time is what the interface allows. */
export function systemRandom(bytes) {
  for (let i = 0; i < bytes.length; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
}

export async function instantiate(module, random = systemRandom) {
  let memory = null;
  const imports = {
    tacit: { random: (at, n) => {
      // a view of the module's own memory: what was drawn is nowhere else
      random(new Uint8Array(memory.buffer, at >>> 0, n >>> 0));
    } },
  };
  const { exports } = await WebAssembly.instantiate(module, imports);
  ({ memory } = exports);
  exports._initialize();
  return new Core(exports);
}

class Core {
  #x;
  #dead = null;

  constructor(exports) {
    this.#x = exports;
  }

  /** Whether the module has stopped itself; then another one is needed. */
  get dead() {
    return this.#dead !== null;
  }

  get version() {
    return this.#text(this.#x.tacit_flat_version());
  }

  #text(at) {
    const bytes = new Uint8Array(this.#x.memory.buffer);
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  /* Calls, and turns a stop of the module into an error that says where. */
  #call(name, ...args) {
    if (this.#dead !== null) throw new TacitError('STOPPED', this.#dead);
    try {
      return this.#x[name](...args);
    } catch (e) {
      const at = this.#x.tacit_flat_impossible();
      this.#dead = `the client has stopped: ${at === 0 ? e.message : this.#text(at)}`;
      throw new TacitError('STOPPED', this.#dead, { cause: e });
    }
  }

  #fail() {
    return new TacitError(this.#text(this.#call('tacit_flat_status')), this.#text(this.#call('tacit_flat_message')));
  }

  /* Runs f with arrays in the module's memory, which are wiped and freed afterwards; null stays 0. */
  #with(arrays, f) {
    const places = [];
    try {
      for (const array of arrays) {
        if (array === null) {
          places.push([0, 0]);
          continue;
        }
        const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength), n = Math.max(bytes.length, 1);
        const at = this.#call('tacit_flat_alloc', n) >>> 0;
        if (at === 0) throw new TacitError('NO_MEMORY', 'the page has no memory left for this');
        places.push([at, n]);
        new Uint8Array(this.#x.memory.buffer).set(bytes, at);
      }
      return f(...places.map(([at]) => at));
    } finally {
      if (!this.dead) for (const [at, n] of places) if (at !== 0) this.#call('tacit_flat_free', at, n);
    }
  }

  /** A client of the text of a billboard; `state` is what the last report left, or null. */
  open(billboard, { epsilon, delta, memory }, state) {
    return this.#with([billboard, state], (text, kept) => {
      const client = this.#call('tacit_flat_open', text, billboard.length, epsilon, delta, memory, kept, state?.length ?? 0);
      if (client === 0) throw this.#fail();
      return client;
    });
  }

  close(client) {
    if (!this.dead) this.#call('tacit_flat_close', client);
  }

  facts(client) {
    return this.#with([new Float64Array(FACTS.length)], (at) => {
      this.#call('tacit_flat_facts', client, at);
      const numbers = new Float64Array(this.#x.memory.buffer.slice(at, at + 8 * FACTS.length));
      const facts = { learner: this.#text(this.#call('tacit_flat_learner', client)) };
      FACTS.forEach((name, i) => { facts[name] = numbers[i]; });
      return facts;
    });
  }

  act(client, step, state, features) {
    return this.#with([features], (at) => {
      const action = this.#call('tacit_flat_act', client, step, state, at);
      if (action < 0) throw this.#fail();
      return { action, probability: this.#call('tacit_flat_probability'), cut: this.#call('tacit_flat_was_cut', client) !== 0 };
    });
  }

  /** The report: its body, the key that goes with it, and the state that counts it. */
  report(client, { states, actions, rewards, features, length = 0 }) {
    return this.#with([states, actions, rewards, features], (...at) => {
      const body = this.#call('tacit_flat_report', client, ...at, length);
      if (body === 0) throw this.#fail();
      const text = this.#text(body);
      this.#call('tacit_flat_free', body, text.length);
      const from = this.#call('tacit_flat_state') >>> 0, size = this.#call('tacit_flat_state_size') >>> 0;
      return { body: text, key: this.#text(this.#call('tacit_flat_key')), state: new Uint8Array(this.#x.memory.buffer.slice(from, from + size)),
        cut: this.#call('tacit_flat_was_cut', client) !== 0 };
    });
  }
}
