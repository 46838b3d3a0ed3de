/** The weakest guarantee that the device's owner accepts: the largest epsilon and delta that all reports of a person may
 * cost, their mean rewards included. */
export interface Terms {
  epsilon: number;
  delta: number;
  /** Bytes that reading a billboard may take; default 256 MiB. */
  memory?: number;
}

/** One text for each learner and person. `swap` puts `after` in the place of `before` and is true, or changes nothing and
 * is false because something else is there; when it has returned true, the text survives a crash. */
export interface Storage {
  read(key: string): Promise<string | undefined>;
  swap(key: string, before: string | undefined, after: string): Promise<boolean>;
}

export interface LinkOptions {
  /** A token of scope `report`. */
  token?: string;
  /** Where reports are counted and wait; default: the page's IndexedDB. */
  storage?: Storage;
  /** Where several people share a device: whose reports these are. It does not leave the device. */
  person?: string;
  /** How often a report is tried before it waits for the next `send`; default 3. */
  attempts?: number;
  /** In place of the global fetch. */
  fetch?: typeof fetch;
  signal?: AbortSignal;
}

export interface OpenOptions extends Terms, LinkOptions {
  /** The package's tacit-client.wasm, if it is not beside client.js: its address, its bytes, or compiled. */
  wasm?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module;
}

export interface Facts {
  readonly learner: string;
  /** Of all reports of a person together, without the mean rewards. */
  readonly epsilon: number;
  readonly delta: number;
  /** The extra cost of the mean rewards in the reports; 0 where there are none. */
  readonly monitorEpsilon: number;
  readonly monitorDelta: number;
  /** 0 where situations are features. */
  readonly states: number;
  readonly actions: number;
  readonly horizon: number;
  /** Numbers in a situation's features; 0 where states are numbered. */
  readonly perSituation: number;
  /** On the length of each action's features, or of the context's. */
  readonly bound: number;
  readonly version: number;
  /** A person may report so often, so many users apart. */
  readonly visits: number;
  readonly apart: number;
  /** Reports of this person before this client, and how many it may still make. */
  readonly made: number;
  readonly left: number;
}

export interface Situation {
  /** From 0; default 0. */
  step?: number;
  /** Where states are numbered. */
  state?: number;
  /** `perSituation` numbers, where they are not. */
  features?: ArrayLike<number>;
}

export interface Decision {
  action: number;
  probability: number;
  /** The situation was outside the learner's domain and was cut into it. Only this page learns it. */
  cut: boolean;
}

/** What happened to a person. Numbers outside the learner's domain are cut into it; the report is made all the same. With
 * fewer than `horizon` actions the episode has ended early, in its last state, which must mean the end. */
export interface Episode {
  /** One more than actions, or one if the horizon is 1. */
  states?: ArrayLike<number>;
  /** `horizon` of them, or fewer if it ended early. */
  actions: ArrayLike<number>;
  rewards: ArrayLike<number>;
  /** `perSituation` numbers for each state, or for the only one if the horizon is 1. */
  features?: ArrayLike<number>;
}

/** What leaves the device: the body of POST /v1/reports, and its Idempotency-Key. */
export interface Report {
  readonly body: string;
  readonly key: string;
  readonly cut: boolean;
}

export interface Outcome {
  /** Reports that the service has answered: `taken`, `full`, `late`, `visits_used` or `too_soon`. */
  sent: { key: string; status: string }[];
  /** Reports that wait for the next time. */
  waiting: number;
  /** Why they wait. */
  problem?: TacitError;
}

export class TacitError extends Error {
  /** A status of the library (`BAD_EPSILON`), a code of the service (`no_learner`), or `OFFLINE`, `STORAGE`, `WASM`, `HTTP`,
   * `STOPPED`. */
  readonly code: string;
  /** Of an answer of the service. */
  readonly status?: number;
}

export class Client {
  private constructor();
  /** Fetches the billboard, checks its terms on the device, and opens a client for one episode. */
  static open(billboardUrl: string | URL, options: OpenOptions): Promise<Client>;
  /** Sends what an earlier page has left, without a billboard. */
  static flush(billboardUrl: string | URL, options?: LinkOptions): Promise<Outcome>;
  readonly facts: Facts;
  act(situation?: Situation): Decision;
  /** Resolves when the report is counted in the storage; before that nothing can leave. */
  report(episode: Episode): Promise<Report>;
  waiting(): Promise<number>;
  send(options?: { signal?: AbortSignal }): Promise<Outcome>;
  close(): void;
}

/** The page's IndexedDB; the default where there is one. */
export function pageStorage(indexedDB?: IDBFactory): Storage;
/** Forgets everything with the page: for simulations and tests. */
export function memoryStorage(): Storage;
