/* What the client must do wherever it runs: node, a page and a worker run the same functions. `env` brings the package, the
 * service, and what seeded_report has printed for the same billboards. Throws at the first thing that is not as it should be. */

function check(truth, what) {
  if (!truth) throw new Error(what);
}

async function fails(code, f, what) {
  let problem = null;
  try {
    await f();
  } catch (e) {
    problem = e;
  }
  check(problem !== null && problem.code === code, `${what}: expected ${code}, got ${problem === null ? 'nothing' : `${problem.code} ${problem.message}`}`);
  return problem;
}

/* --- The same seed, the same bytes --------------------------------------------------------------- */

const MASK = 0xffffffffffffffffn;

/* The bytes of seeded_report.c. */
function seeded(seed) {
  let state = BigInt(seed);
  return (bytes) => {
    for (let i = 0; i < bytes.length; i += 8) {
      state = (state + 0x9e3779b97f4a7c15n) & MASK;
      let z = state;
      z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
      z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
      z ^= z >> 31n;
      for (let k = 0; k < 8 && i + k < bytes.length; k++) bytes[i + k] = Number((z >> BigInt(8 * k)) & 0xffn);
    }
  };
}

/* The life of seeded_report.c. */
function live(core, client, seed) {
  let life = seed >>> 0;
  const chance = () => {
    life = (Math.imul(life, 1664525) + 1013904223) >>> 0;
    return (life >>> 8) * 2 ** -24;
  };
  const f = core.facts(client), d = f.perSituation, lines = [];
  const episode = { states: new Uint32Array(f.horizon + 1), actions: new Uint32Array(f.horizon), rewards: new Float64Array(f.horizon), features: new Float64Array((f.horizon + 1) * d) };
  for (let h = 0; h <= f.horizon; h++) {
    episode.states[h] = f.states > 0 ? Math.floor(chance() * f.states) : 0;
    for (let i = 0; i < d; i++) episode.features[h * d + i] = (f.bound * (chance() - 0.5)) / Math.sqrt(d);
  }
  for (let h = 0; h < f.horizon; h++) {
    episode.actions[h] = core.act(client, h, episode.states[h], d > 0 ? episode.features.slice(h * d, (h + 1) * d) : null).action;
    episode.rewards[h] = chance();
    lines.push(`act ${episode.actions[h]}`);
  }
  const { body, key, state } = core.report(client, { ...episode, states: d > 0 ? null : episode.states, features: d > 0 ? episode.features : null });
  lines.push(`state ${[...state].map((b) => b.toString(16).padStart(2, '0')).join('')}`, `key ${key}`, `body ${body}`);
  return `${lines.join('\n')}\n`;
}

export async function sameBytes({ instantiate, module, cases }) {
  for (const { learner, seed, billboard, printed } of cases) {
    const core = await instantiate(module, seeded(seed));
    const client = core.open(new TextEncoder().encode(billboard), { epsilon: Infinity, delta: 1, memory: 0 }, null);
    const own = live(core, client, seed);
    check(own === printed, `${learner}, seed ${seed}: the browser's device and libtacit_client differ\n${own.slice(0, 300)}\n${printed.slice(0, 300)}`);
    core.close(client);
  }
}

/* --- Hostile billboards -------------------------------------------------------------------------- */

/* Whatever a server says: the client is refused with a reason, or keeps to its terms, acts within its spaces, and reports. */
export async function hostile({ instantiate, module, corpus, cases }) {
  const terms = { epsilon: 10, delta: 0.01, memory: 1 << 24 }, tally = { opened: 0, refused: 0 };
  const core = await instantiate(module);
  const attempt = (text) => {
    let client = 0;
    try {
      client = core.open(new TextEncoder().encode(text), terms, null);
    } catch (e) {
      check(e.code !== 'STOPPED' && /^[A-Z_]+$/.test(e.code) && e.message.length > 0, `a billboard stops the client: ${e.message}\n${text.slice(0, 400)}`);
      tally.refused++;
      return;
    }
    const f = core.facts(client), d = f.perSituation;
    tally.opened++;
    check(f.epsilon + f.monitorEpsilon <= terms.epsilon && f.delta + f.monitorDelta <= terms.delta, `terms: ${text.slice(0, 400)}`);
    if (f.horizon <= 64 && d <= 2048) {
      const states = new Uint32Array(f.horizon + 1).fill(Math.max(f.states - 1, 0)), features = new Float64Array((f.horizon + 1) * d).fill(0.1);
      const actions = new Uint32Array(f.horizon).map((_, h) => core.act(client, h, states[h], d > 0 ? features.slice(0, d) : null).action);
      check(actions.every((a) => a < f.actions), 'an action that does not exist');
      const { body } = core.report(client, { states: d > 0 ? null : states, actions, rewards: new Float64Array(f.horizon).fill(0.5), features: d > 0 ? features : null });
      check(JSON.parse(body).report.length > 20, 'a report');
    }
    core.close(client);
  };
  for (const text of corpus) attempt(text);
  // honest ones, changed by whom they were not made for
  for (const { billboard } of cases) {
    for (const [from, to] of [['"model":"local"', '"model":"joint"'], [/"epsilon":1\b/, '"epsilon":11'], [/"delta":[0-9.e-]+/, '"delta":0.5'], [/"epsilon":1\b/, '"epsilon":-1'],
      [/"epsilon":1\b/, '"epsilon":1e999'], [/"horizon":\d+/, '"horizon":4294967295'], [/"states":\d+/, '"states":4294967295'], [/"actions":\d+/, '"actions":4294967295'],
      [/"states":\d+/, '"states":65536'], [/"features":\d+/, '"features":65536'], [/"episodes":\d+/, '"episodes":18446744073709551615'], [/"episodes":\d+/, '"episodes":4294967297'],
      [/"model_bytes":"./, '"model_bytes":"_'], [/"kind":"[^"]*"/, '"kind":"lsvi-ucb"'], [/}$/, ''], [/"version":/, '"visits":4294967295,"apart":1,"version":']])
      attempt(billboard.replace(from, to));
    for (let i = 1; i < 12; i++) attempt(billboard.slice(0, Math.floor((billboard.length * i) / 12)));
  }
  check(tally.refused > 100 && tally.opened > 20, `hostile billboards: ${JSON.stringify(tally)}`);
  return tally;
}

/* --- A client's life ------------------------------------------------------------------------------ */

function episodeOf(client) {
  const { horizon, states, perSituation } = client.facts, actions = [], rewards = [], path = [], features = [];
  for (let h = 0; h <= horizon; h++) {
    path.push(h % Math.max(states, 1));
    for (let i = 0; i < perSituation; i++) features.push(0.1);
    if (h === horizon) break;
    actions.push(client.act({ step: h, state: path[h], features: features.slice(h * perSituation) }).action);
    rewards.push(0.5);
  }
  return perSituation > 0 ? { actions, rewards, features } : { actions, rewards, states: path };
}

const terms = { epsilon: 2, delta: 1e-5 };

export async function lives({ Client, service, token, storage, users, only }) {
  for (const learner of only ?? service.learners) {
    const url = `${service.url}/v1/billboard?learner=${learner}`, kept = storage(), options = { ...terms, token, storage: kept };
    const before = await users(learner);
    const client = await Client.open(url, options);
    check(client.facts.learner === learner && client.facts.left === client.facts.visits, learner);
    const report = await client.report(episodeOf(client));
    check(report.key.length === 32 && JSON.parse(report.body).learner === learner, `${learner}: a report`);
    check((await client.waiting()) === 1, `${learner}: it waits`);
    const { sent, waiting } = await client.send();
    check(sent.length === 1 && sent[0].key === report.key && sent[0].status === 'taken' && waiting === 0, `${learner}: ${JSON.stringify(sent)}`);
    check((await client.send()).sent.length === 0, `${learner}: nothing is sent twice`);
    await fails('EXHAUSTED', () => client.report(episodeOf(client)), `${learner}: a second report of one client`);
    client.close();
    check((await users(learner)) === before + 1, `${learner}: the service counts one`);
    // the same person again: another client, with what the first has left
    const again = await Client.open(url, options);
    if (again.facts.visits === 1) {
      check(again.facts.left === 0, learner);
      await fails('EXHAUSTED', () => again.report(episodeOf(again)), `${learner}: a second report of one person`);
      check((await users(learner)) === before + 1, `${learner}: still one`);
    } else {
      await again.report(episodeOf(again));
      await again.send();
      const third = await Client.open(url, options);
      await fails('EXHAUSTED', () => third.report(episodeOf(third)), `${learner}: a third report`);
      check((await users(learner)) === before + 2, `${learner}: two`);
    }
    again.close();
  }
}

export async function refuses({ Client, service, token, storage }) {
  const url = (learner) => `${service.url}/v1/billboard?learner=${learner}`, fresh = () => ({ ...terms, token, storage: storage() });
  await fails('BAD_EPSILON', () => Client.open(url('counts'), { ...fresh(), epsilon: 0.5 }), 'a weaker epsilon');
  await fails('BAD_EPSILON', () => Client.open(url('watched'), { ...fresh(), epsilon: 1.5 }), 'the mean reward counts, too');
  await fails('BAD_DELTA', () => Client.open(url('gauss'), { ...fresh(), delta: 0 }), 'a weaker delta');
  await fails('UNSUPPORTED', () => Client.open(url('joint'), fresh()), 'a joint learner');
  await fails('no_learner', () => Client.open(url('nobody'), fresh()), 'no such learner');
  await fails('BAD_ARGUMENT', () => Client.open(url('counts'), { token, storage: storage() }), 'no terms');
  await fails('BAD_ARGUMENT', () => Client.open(url('counts'), { ...fresh(), epsilon: NaN }), 'terms that say nothing');
  const asked = (text) => ({ ...fresh(), fetch: async () => new Response(text) });
  const { billboard } = service.cases.find((c) => c.learner === 'counts');
  await fails('WRONG_PLAN', () => Client.open(url('gauss'), asked(billboard)), "another learner's billboard");
  await fails('SYNTAX', () => Client.open(url('counts'), asked('<!DOCTYPE html>')), 'no billboard');
  await fails('TOO_LARGE', () => Client.open(url('counts'), asked(' '.repeat((1 << 26) + 1))), 'a billboard without end');
  const client = await Client.open(url('counts'), fresh()), e = episodeOf(client);
  await fails('BAD_ARGUMENT', () => client.report({ ...e, rewards: e.rewards.slice(1) }), 'too few rewards');
  await fails('BAD_ARGUMENT', () => client.report({ ...e, actions: [], rewards: [] }), 'no actions');
  await fails('BAD_ARGUMENT', () => client.report({ ...e, states: undefined }), 'no states');
  await fails('BAD_ARGUMENT', () => client.report({ ...e, actions: [...e.actions.slice(1), 'left'] }), 'a word for an action');
  await fails('BAD_ARGUMENT', async () => client.act({ step: 9 }), 'a step too far');
  check(client.act({ state: 99 }).cut && client.act({ state: -1 }).cut && client.act({ state: NaN }).cut && !client.act({ state: 1 }).cut, 'what is outside is cut');
  const { cut } = await client.report({ ...e, rewards: e.rewards.map(() => 7) });
  check(cut, 'a report is made whatever happened');
  client.close();
  await fails('BAD_ARGUMENT', async () => client.act({}), 'a closed client');
}

export async function survives({ Client, TacitError, service, token, storage, users }) {
  const learner = 'counts', url = `${service.url}/v1/billboard?learner=${learner}`, fresh = () => ({ ...terms, token, storage: storage(), attempts: 1 });
  const before = await users(learner);
  // offline: what was made waits, a reload later too, and leaves with its own key
  let options = fresh(), posts = 0;
  const away = (inner) => ({ ...inner, fetch: async (to, o) => { if (o.method === 'POST') { posts++; throw new TypeError('offline'); } return fetch(to, o); } });
  let client = await Client.open(url, away(options));
  const made = await client.report(episodeOf(client));
  let outcome = await client.send();
  check(outcome.waiting === 1 && outcome.problem.code === 'OFFLINE' && posts === 1 && outcome.sent.length === 0, 'it waits offline');
  client = await Client.open(url, options);
  check((await client.waiting()) === 1 && client.facts.left === 0, 'it waits after a reload, and is counted');
  outcome = await client.send();
  check(outcome.sent[0].key === made.key && outcome.sent[0].status === 'taken', 'it leaves with the key it was made with');
  // an answer that is lost: the same again counts once
  options = fresh();
  client = await Client.open(url, { ...options, fetch: async (to, o) => { const a = await fetch(to, o); if (o.method === 'POST') throw new TypeError('lost'); return a; } });
  await client.report(episodeOf(client));
  check((await client.send()).waiting === 1, 'an answer is lost');
  outcome = await Client.flush(url, options);
  check(outcome.sent.length === 1 && outcome.sent[0].status === 'taken', 'sent again without a billboard');
  check((await users(learner)) === before + 2, 'each counts once');
  // a service that is busy, broken, too slow, or says nothing of use is asked again, with the same key and the same bytes
  for (const trouble of [() => new Response('{"error":{"code":"store","message":"no"}}', { status: 503 }), () => new Response('<h1>Bad gateway</h1>', { status: 502 }), () => new Response('', { status: 500 }),
    () => new Response('{"error":{"code":"quota","message":"no"}}', { status: 429, headers: { 'Retry-After': '0' } }), () => new Response('welcome', { status: 202 }), () => new Response('{}', { status: 202 }),
    () => { throw new DOMException('it took too long', 'TimeoutError'); }]) {
    const asked = [];
    options = fresh();
    client = await Client.open(url, { ...options, attempts: 2, fetch: async (to, o) => {
      if (o.method !== 'POST') return fetch(to, o);
      asked.push(`${o.headers['Idempotency-Key']} ${o.body}`);
      return asked.length === 1 ? trouble() : fetch(to, o);
    } });
    const { key, body } = await client.report(episodeOf(client));
    outcome = await client.send();
    check(outcome.sent.length === 1 && asked.length === 2 && asked.every((a) => a === `${key} ${body}`), `asked again after ${trouble}: ${JSON.stringify(asked)}`);
    // once more than there is patience: it waits, and says why
    options = fresh();
    client = await Client.open(url, { ...options, fetch: async (to, o) => (o.method === 'POST' ? trouble() : fetch(to, o)) });
    await client.report(episodeOf(client));
    outcome = await client.send();
    check(outcome.waiting === 1 && outcome.sent.length === 0 && outcome.problem instanceof TacitError, `it waits after ${trouble}: ${JSON.stringify(outcome)}`);
  }
  // a page that gives up waiting: the report does not
  options = fresh();
  const gone = new AbortController();
  client = await Client.open(url, { ...options, fetch: async (to, o) => { if (o.method === 'POST') gone.abort(new Error('closed')); return fetch(to, o); } });
  const left = await client.report(episodeOf(client));
  let gaveUp = false;
  await client.send({ signal: gone.signal }).catch(() => { gaveUp = true; });
  check(gaveUp && (await client.waiting()) === 1, 'given up');
  check((await Client.flush(url, options)).sent[0].key === left.key, 'and sent later');
  // the billboard is a later one when the report is made and sent: it is taken, or late, and counted once
  const counted = await users(learner);
  options = fresh();
  client = await Client.open(url, options);
  const newer = await Client.open(url, { ...fresh() });
  await newer.report(episodeOf(newer));
  await newer.send();
  for (const end = performance.now() + 30000; performance.now() < end;) {
    const now = await Client.open(url, fresh());
    if (now.facts.version > client.facts.version) break;
  }
  await client.report(episodeOf(client));
  outcome = await client.send();
  check(['taken', 'late'].includes(outcome.sent[0]?.status) && (await users(learner)) === counted + 2, `an older billboard: ${JSON.stringify(outcome)}`);
  // a learner that changes its terms after the report: the device holds to those that it reported under
  const board = await (await fetch(url)).text();
  await fails('WRONG_PLAN', () => Client.open(url, { ...options, fetch: async () => new Response(board.replace('"epsilon":1,', '"epsilon":0.5,')) }), 'other terms');
  // an episode that ends early, in a state that means the end
  options = fresh();
  client = await Client.open(url, options);
  await client.report({ states: [0, 1, 3], actions: [0, 1], rewards: [1, 0.5] });
  check((await client.send()).sent[0].status === 'taken', 'an episode that ends early');
  // a wrong token: the page hears of it, and nothing is lost
  options = fresh();
  client = await Client.open(url, { ...options, token: 'wrong' });
  await client.report(episodeOf(client));
  await fails('token', () => client.send(), 'a wrong token');
  check((await Client.flush(url, options)).sent.length === 1, 'with the right one');
  // two tabs begin with the same state: one report
  options = fresh();
  const tabs = await Promise.all([Client.open(url, options), Client.open(url, options)]);
  const both = await Promise.allSettled(tabs.map((c) => c.report(episodeOf(c))));
  check(both.filter((b) => b.status === 'fulfilled').length === 1 && both.find((b) => b.status === 'rejected').reason.code === 'EXHAUSTED', 'two tabs, one report');
  check((await tabs[0].waiting()) === 1, 'one waits');
  // two people share the device
  const shared = storage(), of = (person) => Client.open(url, { ...terms, token, storage: shared, person });
  for (const person of ['anna', 'bo']) {
    const c = await of(person);
    check(c.facts.left === 1, person);
    await c.report(episodeOf(c));
  }
  check((await of('anna')).facts.left === 0, 'each has their own');
  // a record that cannot be read, or storage that fails, makes no report
  const kept = storage(), broken = { read: () => kept.read('x').then(() => '{"format":1,"state":"AAAA","queue":[]}'), swap: kept.swap };
  await fails('CORRUPT', () => Client.open(url, { ...terms, token, storage: broken }), 'a damaged state');
  await fails('CORRUPT', () => Client.open(url, { ...terms, token, storage: { ...kept, read: async () => 'nonsense' } }), 'a damaged record');
  client = await Client.open(url, { ...terms, token, storage: { ...kept, swap: async () => { throw new Error('full'); } } });
  let failed = false;
  await client.report(episodeOf(client)).catch(() => { failed = true; });
  check(failed && (await client.send()).sent.length === 0, 'storage is full: nothing leaves');
}

/* Milliseconds of one life in a page that has done nothing before: the opening, from the bytes of the module and of the
 * billboard to a client, and the report; then both again, n times in a row, when everything is compiled. A section with a
 * number of its own makes the module one that no cache of the browser has. */
export async function measure({ instantiate, wasm, billboard, n }) {
  const terms = { epsilon: Infinity, delta: 1, memory: 0 }, text = new TextEncoder().encode(billboard), code = new Uint8Array(await wasm());
  const bytes = new Uint8Array(code.length + 19);
  bytes.set(code);
  bytes.set([0, 17, 0, ...crypto.getRandomValues(new Uint8Array(16))], code.length);
  const times = [performance.now()], lap = () => times.push(performance.now());
  const module = await WebAssembly.compile(bytes);
  lap();
  const core = await instantiate(module);
  lap();
  const episode = ({ horizon, states, perSituation: d }) => ({ actions: new Uint32Array(horizon), rewards: new Float64Array(horizon).fill(0.5), states: d > 0 ? null : new Uint32Array(horizon + 1).fill(states - 1), features: d > 0 ? new Float64Array((horizon + 1) * d) : null });
  let client = core.open(text, terms, null);
  lap();
  core.report(client, episode(core.facts(client)));
  lap();
  core.close(client);
  let again = 0, reports = 0;
  for (let i = 0; i < n; i++) {
    const from = performance.now();
    client = core.open(text, terms, null);
    const made = episode(core.facts(client)), opened = performance.now();
    core.report(client, made);
    const end = performance.now();
    again += opened - from;
    reports += end - opened;
    core.close(client);
  }
  return { compile: times[1] - times[0], start: times[2] - times[1], billboard: times[3] - times[2], opening: times[3] - times[0], report: times[4] - times[3], later_opening: again / n, later_report: reports / n };
}
