/* The live page: asks the service for what may be read, every two seconds, and draws it as the report is drawn. Shares of actions are
 * taken from the public billboard, never from what was decided for users. */
(() => {
  'use strict';
  const { whole, say, short, ticks, svg } = drawing;
  const PERIOD = 2000, WEEK = 7 * 86400, CENTURY = 36525 * 86400, MOST_ACTIONS = 10;
  const $ = (id) => document.getElementById(id);
  let token = new URLSearchParams(location.hash.slice(1)).get('token') || sessionStorage.getItem('token') || '';
  if (location.hash) history.replaceState(null, '', location.pathname); // a token stays in no history
  let timer = 0;
  let now = Date.now() / 1000; // of the service, by its last answer
  const fixed = new Map(); // what stays as it is: guarantees, and billboards by version

  /* --- Asking --- */

  async function ask(path) {
    const answer = await fetch(path, { headers: { Authorization: 'Bearer ' + token }, cache: 'no-store' })
      .catch(() => { throw new Error('The service does not answer; what is shown is older.'); });
    if (answer.status === 401 || answer.status === 403)
      throw Object.assign(new Error('token'), { refusal: answer.status === 401 ? 'The service does not know this token, or it has expired.' : 'This token may not read.' });
    if (!answer.ok && path !== '/healthz') throw new Error('The service answered ' + answer.status + '.');
    const date = Date.parse(answer.headers.get('date'));
    if (date > 0) now = date / 1000;
    return answer;
  }
  const get = async (path) => (await ask(path)).json();

  async function once(key, path) {
    if (!fixed.has(key)) fixed.set(key, await get(path));
    return fixed.get(key);
  }

  async function read(learner) {
    const query = '?learner=' + encodeURIComponent(learner.name), board = 'board ' + learner.name;
    if (fixed.get(board)?.version !== learner.version) fixed.delete(board);
    const [ledger, history, guarantee, billboard] = await Promise.all([get('/v1/ledger' + query), get('/v1/history' + query),
      once('guarantee ' + learner.name, '/v1/guarantee' + query), once(board, '/v1/billboard' + query)]);
    return { learner, ledger, points: history.points, guarantee, billboard };
  }

  /* --- Words --- */

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }
  const plural = (n, word) => whole.format(n) + ' ' + word + (n === 1 ? '' : 's');
  const percent = (x) => (x > 0 && x < 0.001 ? '< 0.1 %' : (100 * x).toFixed(1) + ' %');
  const cost = (g) => (g ? 'ε\u00a0' + say(g.epsilon) + ', δ\u00a0' + say(g.delta) : 'none');
  const day = (at) => new Date(1000 * at).toLocaleDateString('en', { dateStyle: 'long' });
  const minute = (at) => new Date(1000 * at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });
  const when = (at) => (Math.abs(at - now) < 2 * 86400 ? minute(at) : day(at)); // a day is too coarse for what is near

  /* --- The budget and its end --- */

  /* When the budget ends if users go on coming as they did since the last point of the history that is a week old, or since
   * the first point. {at, since}, or null: nobody has come since. */
  function forecast(points, learner) {
    const old = points.filter((p) => p.at <= now - WEEK), from = old.length > 0 ? old[old.length - 1] : points[0];
    if (!from || learner.users <= from.users || now <= from.at) return null;
    const rate = (learner.users - from.users) / (now - from.at);
    return { at: now + learner.left / rate, since: from.at };
  }

  function sayEnd(end, learner) {
    if (learner.left === 0) return [' It is spent: nobody is learned from any more.'];
    if (!learner.learning) return [];
    if (!end) return [' There is no forecast of its end: too few users have come.'];
    if (end.at > now + CENTURY) return [' At the rate of users since ' + when(end.since) + ' it lasts more than a hundred years.'];
    return [' At the rate of users since ' + when(end.since) + ' it ends about ',
      make('time', { datetime: new Date(1000 * end.at).toISOString(), 'data-figure': 'end' }, when(end.at)), '.'];
  }

  const spent = (learner) => (learner.limit > 0 ? learner.accepted / learner.limit : 0);

  function budget({ learner, points }) {
    const used = spent(learner), fill = make('i', used > 0 ? { class: 'some' } : null);
    fill.style.width = (100 * used).toFixed(2) + '%';
    return [make('div', { class: learner.left === 0 ? 'bar full' : 'bar', role: 'progressbar', 'aria-label': 'budget spent', 'aria-valuenow': Math.round(100 * used), 'aria-valuemin': 0, 'aria-valuemax': 100 }, fill),
      make('p', { class: 'budget' }, make('b', null, 'Budget: ' + whole.format(learner.accepted) + ' of ' + plural(learner.limit, 'user') + ', ' + percent(used) + '.'), ...sayEnd(forecast(points, learner), learner))];
  }

  /* --- Figures --- */

  const WIDTH = () => Math.max(280, Math.min(456, $('learners').clientWidth));

  function axes(width, height, box, x, y, xs, ys) {
    return [...ys.flatMap((v) => [svg('path', { class: 'grid', d: `M${box.left} ${y(v)}H${width - box.right}` }), svg('text', { x: box.left - 8, y: y(v) + 4, 'text-anchor': 'end' }, say(v))]),
      svg('path', { class: 'axis', d: `M${box.left} ${height - box.bottom}H${width - box.right}` }),
      ...xs.flatMap((v) => [svg('path', { class: 'axis', d: `M${x(v)} ${height - box.bottom}v5` }), svg('text', { x: x(v), y: height - box.bottom + 18, 'text-anchor': 'middle' }, say(v))]),
      svg('text', { class: 'ink', x: (box.left + width - box.right) / 2, y: height - 4, 'text-anchor': 'middle' }, 'users')];
  }

  /* The released mean over users, with two standard errors to both sides; rewards are in [0, 1], noise is not. */
  function rewards(points) {
    const known = points.filter((p) => p.reward !== null);
    if (known.length < 2) return null;
    const clip = (v) => Math.min(1, Math.max(0, v)), width = WIDTH(), height = 260, box = { left: 46, right: 26, top: 12, bottom: 46 };
    const rows = known.map((p) => ({ users: p.users, mean: clip(p.reward), low: clip(p.reward - 2 * (p.error ?? 0)), high: clip(p.reward + 2 * (p.error ?? 0)) }));
    const first = rows[0].users, last = rows[rows.length - 1].users;
    let low = Math.min(...rows.map((r) => r.low)), high = Math.max(...rows.map((r) => r.high));
    if (high - low < 0.02) { low = Math.max(0, low - 0.01); high = Math.min(1, high + 0.01); }
    const x = (v) => Number((box.left + (width - box.left - box.right) * (v - first) / (last - first || 1)).toFixed(1));
    const y = (v) => Number((height - box.bottom - (height - box.top - box.bottom) * (v - low) / (high - low)).toFixed(1));
    const line = (key, list) => list.map((r) => `${x(r.users)} ${y(r[key])}`).join('L');
    return svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'data-curve': 'reward' }, svg('title', null, 'Released mean reward over users'),
      ...axes(width, height, box, x, y, ticks(first, last, false, 4), ticks(low, high, false, 5)),
      svg('path', { class: 'band f h1', d: `M${line('high', rows)}L${line('low', [...rows].reverse())}Z` }),
      svg('path', { class: 'line c h1', d: 'M' + line('mean', rows) }));
  }

  /* How often each action stands in the public policy: {shares, mixed}, or null where the billboard is no table. */
  function shares({ policy, mixed, space }) {
    const out = Array(space.actions).fill(0);
    let places = 0;
    for (const step of policy ?? mixed ?? [])
      for (const place of step) {
        places++;
        if (policy) out[place]++;
        else place.forEach((p, a) => { out[a] += p; });
      }
    return places > 0 ? { shares: out.map((s) => s / places), mixed: !policy } : null;
  }

  function actions(list, names) {
    const all = list.map((share, i) => ({ share, name: String(names?.[i] ?? i) })), shown = all.slice();
    if (all.length > MOST_ACTIONS) {
      shown.sort((a, b) => b.share - a.share);
      const rest = shown.splice(MOST_ACTIONS - 1);
      shown.push({ share: rest.reduce((s, r) => s + r.share, 0), name: rest.length + ' others' });
    }
    const width = WIDTH(), row = 26, label = names ? 120 : 64, value = 58, room = width - label - value;
    return svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${row * shown.length + 4}`, role: 'img', 'data-curve': 'actions' }, svg('title', null, 'Shares of actions in the public policy'),
      ...shown.flatMap(({ share, name }, i) => {
        const y = row * i + 4, bar = (w, of) => svg('rect', { class: of, x: label, y: y + 5, width: Math.max(0, w).toFixed(1), height: 10 });
        const shorter = short(name, names ? 15 : 9);
        return [svg('text', { class: 'ink', x: 0, y: y + 14 }, shorter, ...(shorter === name ? [] : [svg('title', null, name)])), bar(room, 'empty'), bar(room * share, 'f h1'),
          svg('text', { x: width, y: y + 14, 'text-anchor': 'end', 'data-share': name }, percent(share))];
      }));
  }

  function figure(drawn, title, caption) {
    return make('figure', null, ...(drawn ? [drawn] : []), make('figcaption', null, make('b', null, title + '.'), ' ' + caption));
  }

  function figures({ points, billboard, learner, guarantee }) {
    const known = points.filter((p) => p.reward !== null), table = shares(billboard), names = billboard.space.action_names;
    const place = billboard.space.horizon > 1 ? 'places of the public policy (a step and a state each)' : 'states of the public policy';
    const curve = figure(rewards(points), 'Rewards', known.length > 1 ? 'The mean so far, as it was released with noise, from ' + minute(known[0].at) + ' to ' + minute(known[known.length - 1].at) + '. The band reaches two standard errors to both sides.'
      : guarantee.monitor ? 'There is no curve yet: fewer than two means were released.' : 'They are not released: this learner has no monitor.');
    const bars = figure(table ? actions(table.shares, names) : null, 'Actions', table
      ? (table.mixed ? 'Mean probability of each action in the ' + place : 'Share of the ' + place + ' in which each action is chosen') + '. This is not how often users were told so, which would be made of their own data.'
      : 'Their shares are not shown: the billboard of this learner is no table of actions, and what was decided for users is made of their own data.');
    return make('div', { class: 'pair', 'data-version': learner.version }, curve, bars);
  }

  /* --- A learner --- */

  const place = (learner) => 'learner-' + learner.name; // where its section is

  function sayReward(learner, none = 'not released') {
    if (learner.reward === null) return [none];
    return [learner.reward.toFixed(3), make('small', null, ' ± ' + learner.reward_error.toFixed(3))];
  }

  function numbers(learner) {
    const rows = [['users learned from', [whole.format(learner.users)], 'users'], ['budget left, in users', [whole.format(learner.left)], 'left'],
      ['mean reward, released', sayReward(learner), 'reward'], ['version of the policy', [whole.format(learner.version)], 'version'], ['learning', [learner.learning ? 'yes' : 'no'], 'learning']];
    return make('dl', { class: 'figures' }, ...rows.map(([name, value, id]) => make('div', null, make('dt', null, name), make('dd', { 'data-figure': id }, ...value))));
  }

  function table(head, rows) {
    return make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': head[0] }, make('table', null,
      make('thead', null, make('tr', null, ...head.map((h) => make('th', { scope: 'col' }, h)))),
      make('tbody', null, ...rows.map(([name, ...cells]) => make('tr', null, make('th', { scope: 'row' }, name), ...cells.map((c) => make('td', null, ...[c].flat())))))));
  }

  function releases({ learner, ledger }) {
    if (ledger.releases.length === 0) return [];
    const local = learner.model === 'local', counted = local ? 'reports' : 'times';
    return [table(['release', counted, 'of', 'numbers in it', 'scale of the noise'], ledger.releases.map((r) => [r.name, whole.format(r.passed), whole.format(r.declared), whole.format(r.dimension), say(r.scale)])),
      make('p', { class: 'caption' }, local ? 'What every report has in it, with noise of its own, made on the user’s device.' : 'What was released so far, and how often it may be.')];
  }

  function section(all) {
    const { learner, ledger, guarantee } = all, { states, actions: n, horizon, features } = ledger.space;
    const promise = cost(ledger.together) + (ledger.monitor && ledger.together ? ' (the mean reward alone ' + cost(ledger.monitor) + ')' : '')
      + (ledger.visits > 1 ? ', for all of a person\u2019s visits: at most ' + whole.format(ledger.visits) + ', at least ' + plural(ledger.apart, 'user') + ' apart' : '');
    const where = [states > 0 ? plural(states, 'state') : plural(features, 'feature'), plural(n, 'action'), plural(horizon, 'step')].join(', ');
    return make('section', { id: place(learner), 'data-learner': learner.name }, make('h2', null, learner.name),
      make('p', { class: 'facts' }, learner.kind + '; ' + where + '; privacy: ' + (learner.model === 'none' ? 'none' : learner.model + ', ' + promise) + '.'),
      ...(learner.reason ? [make('p', { class: 'notice' }, 'Not learning: ' + learner.reason + '.')] : []),
      numbers(learner), ...budget(all), figures(all), ...releases(all),
      make('h3', null, 'What is promised'), make('ul', { class: 'sentences' }, ...guarantee.sentences.map((s) => make('li', null, s)),
        ...(guarantee.lives > 1 ? [make('li', null, 'The store was continued ' + plural(guarantee.lives - 1, 'time') + ' from a copy; a person in all of its lives has ' + cost(guarantee.in_all_lives) + '.')] : []),
        ...(guarantee.unsafe ? [make('li', { class: 'unsafe' }, 'The store was served on a database server that may lose what it acknowledged (unsafe: yes). If such a server crashed, what was published may have been taken back and continued otherwise, and a person in both lines has paid twice.')] : [])));
  }

  /* --- The service --- */

  /* {name: [{labels, value}]} from Prometheus' text. */
  function metrics(text) {
    const out = {};
    for (const [, name, labels, value] of text.matchAll(/^([a-z_]+)(?:\{((?:"[^"]*"|[^"}])*)\})? (\S+)$/gm))
      (out[name] ??= []).push({ labels: Object.fromEntries([...(labels ?? '').matchAll(/(\w+)="([^"]*)"/g)].map((m) => [m[1], m[2]])), value: Number(value) });
    return out;
  }

  function traffic(all) {
    const routes = new Map(), row = ({ method, route }) => {
      const key = route === 'unmatched' ? 'no such route' : method + ' ' + route;
      if (!routes.has(key)) routes.set(key, { good: 0, refused: 0, failed: 0, seconds: 0, count: 0 });
      return routes.get(key);
    };
    for (const { labels, value } of all.tacit_http_requests_total ?? [])
      row(labels)[labels.status < '4' ? 'good' : labels.status < '5' ? 'refused' : 'failed'] += value;
    for (const { labels, value } of all.tacit_http_request_seconds_sum ?? []) row(labels).seconds = value;
    for (const { labels, value } of all.tacit_http_request_seconds_count ?? []) row(labels).count = value;
    return [...routes].map(([name, r]) => [name, whole.format(r.good), whole.format(r.refused), whole.format(r.failed), r.count > 0 ? say(1000 * r.seconds / r.count, 2) : '–']);
  }

  /* When a learner's budget ends, if that can be told and is not too far away. */
  function end({ learner, points }) {
    const e = learner.learning ? forecast(points, learner) : null;
    return e && e.at < now + CENTURY ? e.at : null;
  }

  function story(everything) {
    const alone = everything.length === 1, active = everything.filter((e) => e.learner.learning).length;
    const users = everything.reduce((n, e) => n + e.learner.users, 0), taught = plural(users, 'user') + ' taught ' + plural(everything.length, 'learner') + ', ';
    const [first] = everything.map((e) => ({ name: e.learner.name, at: end(e) })).filter((e) => e.at).sort((a, b) => a.at - b.at);
    if (users === 0 && active > 0) return 'No users have come yet. ' + (alone ? 'The learner is waiting for them.' : 'The learners are waiting for them.');
    if (alone) return taught + (active > 0 ? 'which is still learning.' : 'which is not learning any more.') + (first ? ' At the present rate its budget ends about ' + when(first.at) + '.' : '');
    return taught + 'of which ' + (active === everything.length ? 'all are' : active === 0 ? 'none is' : active === 1 ? 'one is' : whole.format(active) + ' are') + ' still learning.'
      + (first ? ' At its present rate ' + first.name + ' is the first whose budget ends, about ' + when(first.at) + '.' : '');
  }

  /* What one person pays who takes part in everything comes before what each learner costs. It is the same in every guarantee. */
  function person([{ guarantee }]) {
    const [first, ...others] = guarantee.person.sentences;
    const after = [make('p', { class: 'person' }, make('b', null, first.charAt(0).toUpperCase() + first.slice(1) + '.')),
      make('ul', { class: 'sentences' }, ...others.map((s) => make('li', null, s)))];
    if (!after.every((e, i) => $('person').children[i]?.isEqualNode(e))) $('person').replaceChildren(...after);
  }

  /* All learners in one table, where there are several: each has a long section below. */
  function overview(everything) {
    $('overview').hidden = everything.length < 2;
    if ($('overview').hidden) return;
    const rows = everything.map((e) => [make('a', { href: '#' + place(e.learner) }, e.learner.name), whole.format(e.learner.users), percent(spent(e.learner)),
      e.learner.left === 0 ? 'spent' : !e.learner.learning ? 'not learning' : end(e) ? when(end(e)) : '–', sayReward(e.learner, '–')]);
    const after = table(['learner', 'users', 'budget spent', 'ends about', 'mean reward'], rows), before = $('overview').lastElementChild;
    if (!before?.isEqualNode(after)) $('overview').replaceChildren(make('h2', null, 'Learners'), after);
  }

  const states = { ok: ['serving', 'good'], failing: ['the store cannot be written', 'bad'], copy: ['the store is a copy', 'bad'], behind: ['the store went back', 'bad'],
    unsound: ['the store was changed', 'bad'], fenced: ['another server has the store', 'bad'], learner: ['a learner has failed', 'bad'], stopping: ['stopping', 'open'] };

  function head(everything, health, all) {
    const one = (name) => all[name]?.[0]?.value, state = health.status === 'ok' && (health.store ?? 'fine') !== 'fine' ? health.store : health.status, [words, kind] = states[state] ?? [state, 'open'];
    $('state').textContent = words;
    $('state').className = 'badge ' + kind;
    $('state').hidden = false;
    $('story').textContent = story(everything);
    $('facts').textContent = 'tacit ' + health.version + ', as of ' + minute(now) + (one('tacit_start_time_seconds') ? ', started ' + minute(one('tacit_start_time_seconds')) : '')
      + '. Store: ' + plural(one('tacit_store_commits_total') ?? 0, 'commit') + ' since then, ' + plural(one('tacit_store_failures_total') ?? 0, 'failure') + '.';
    $('traffic').replaceChildren(make('h2', null, 'Requests'), table(['route', 'answered', 'refused', 'failed', 'mean time, ms'], traffic(all)),
      make('p', { class: 'caption' }, 'Since the start: answers of 2xx and 3xx, of 4xx, and of 5xx. What this page asks for is among them.'));
    $('traffic').hidden = false;
  }

  let shown = null;
  function draw() {
    if (!shown) return;
    const old = new Map([...$('learners').children].map((e) => [e.dataset.learner, e]));
    const all = shown.everything.map((one) => [old.get(one.learner.name), section(one)]).map(([before, after]) => (before?.isEqualNode(after) ? before : after));
    if (all.length !== old.size || all.some((e, i) => e !== $('learners').children[i])) $('learners').replaceChildren(...all); // what is being read stays
    person(shown.everything);
    overview(shown.everything);
    head(shown.everything, shown.health, shown.metrics);
  }

  async function refresh() {
    clearTimeout(timer);
    const problem = (text) => { $('problem').textContent = text; $('problem').hidden = text === ''; };
    try {
      const { learners } = await get('/v1/learners');
      const [health, text, ...everything] = await Promise.all([get('/healthz'), ask('/metrics').then((a) => a.text()), ...learners.map(read)]);
      shown = { everything, health, metrics: metrics(text) };
      draw();
      problem('');
      $('gate').hidden = true;
      sessionStorage.setItem('token', token);
      timer = setTimeout(refresh, PERIOD * Math.ceil(learners.length / 10)); // not more than ten learners a period
    } catch (error) {
      if (error.message === 'token') {
        $('gate').hidden = false;
        problem(token ? error.refusal : '');
      } else {
        problem(error.message);
        timer = setTimeout(refresh, 2 * PERIOD);
      }
    }
  }

  $('gate').addEventListener('submit', (event) => { event.preventDefault(); token = $('token').value.trim(); refresh(); });
  addEventListener('resize', draw);
  refresh();
})();
