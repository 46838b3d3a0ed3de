/* The page: one visitor's way from the billboard to the report, what an observer of the report could conclude, and a crowd. */
import { Client, memoryStorage } from '/demo/client.js';
import { best, cells, chance, contribution, drinks, learner, mostBelief, read, rewardAt, streams, tastes, times, visitAt, visits, weigh } from '/demo/tastes.js';

const $ = (id) => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? undefined;
const url = `${location.origin}/v1/billboard?learner=${learner}`, terms = { epsilon: 2, delta: 0 };
const inWords = ({ time, drink, liked }) => `${drinks[drink]} in the ${times[time]}, ${liked ? 'liked' : 'not liked'}`;
const inShort = ({ time, drink, liked }) => `${drinks[drink]}, ${times[time]}, ${liked ? 'liked' : 'not liked'}`;
const number = (x, digits = 1) => x.toFixed(digits).replace('-', '−');
const percent = (x, digits = 1) => `${number(100 * x, digits)} %`;
const times10 = (x) => (x >= 10 ? x.toFixed(0) : x.toFixed(1));

/* --- Drawing ------------------------------------------------------------------------------------ */

const SVG = 'http://www.w3.org/2000/svg';
function make(name, attributes = {}, ...children) {
  const e = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

/* Drawn for the room that there is, so that letters keep their size. */
const roomOf = (place, most) => Math.max(280, Math.min(place.clientWidth || most, most));

function drawing(width, height, title, description) {
  const id = `d${Math.floor(performance.now() * 1000)}${document.querySelectorAll('svg').length}`;
  return make('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-labelledby': `${id}t ${id}d` }, make('title', { id: `${id}t` }, title), make('desc', { id: `${id}d` }, description));
}

/* Bars of visits and rewards, one row for each time and drink; `exact` as a mark where it is given. */
function drawNumbers(place, values, exact, limit, title) {
  const row = 22, width = roomOf(place, 620), label = 126, top = 22, half = (width - label) / 4 - 8;
  const shown = [['visits', visitAt, label + half + 8], ['rewards', rewardAt, label + 3 * half + 24]];
  const said = times.flatMap((t, s) => drinks.map((d, a) => `${d}, ${t}: ${shown.map(([name, at]) => `${name} ${number(values[at(s * drinks.length + a)])}`).join(', ')}`)).join('; ');
  const svg = drawing(width, top + cells * row + 6, title, said);
  for (const [name, at, middle] of shown) {
    svg.append(make('text', { x: middle, y: 12, 'text-anchor': 'middle', class: 'soft' }, name), make('line', { x1: middle, x2: middle, y1: top - 4, y2: top + cells * row, class: 'zero' }));
    for (let i = 0; i < cells; i++) {
      const y = top + i * row, x = (v) => middle + (Math.max(-limit, Math.min(limit, v)) / limit) * half, v = values[at(i)];
      svg.append(make('rect', { x: Math.min(x(0), x(v)), y: y + 4, width: Math.max(Math.abs(x(v) - x(0)), v === 0 ? 0 : 1), height: row - 8, class: exact === null ? 'true' : 'noise' }));
      if (exact !== null && exact[at(i)] !== 0) svg.append(make('circle', { cx: x(exact[at(i)]), cy: y + row / 2, r: 4.5, class: 'true' }));
    }
  }
  for (let i = 0; i < cells; i++) svg.append(make('text', { x: 0, y: top + i * row + 15 }, `${drinks[i % drinks.length]}, ${times[Math.floor(i / drinks.length)]}`));
  place.replaceChildren(svg);
}

/* The report's bytes as they are, in hexadecimal. */
function drawBytes({ bytes, head, tail }) {
  const part = (name, from, to) => {
    const span = document.createElement('span');
    span.className = name;
    span.textContent = [...bytes.subarray(from, to)].map((b) => b.toString(16).padStart(2, '0')).join(' ');
    return span;
  };
  $('bytes').replaceChildren(part('fixed', 0, head), ' ', part('number', head, tail), ' ', part('name', tail, bytes.length));
  $('bytes-summary').textContent = `The exact ${bytes.length} bytes`;
}

/* Likelihood ratios: how much likelier the report is after each possible visit than after the true one. */
function drawRatios(place, rows, epsilon) {
  const row = 24, width = roomOf(place, 900), narrow = width < 500, label = 184, top = 28, height = top + rows.length * row + 24, span = epsilon * 1.12;
  const x = (v) => label + ((v + span) / (2 * span)) * (width - label - 8);
  const svg = drawing(width, height, 'Likelihood ratios', rows.map((r) => `${inWords(r.visit)}: ${times10(Math.exp(r.ratio))} times as likely as your visit`).join('; '));
  for (const limit of [-epsilon, epsilon]) svg.append(make('line', { x1: x(limit), x2: x(limit), y1: top - 6, y2: height - 20, class: 'limit' }), make('text', { x: x(limit), y: 14, 'text-anchor': limit < 0 ? 'start' : 'end', class: 'soft' }, `${narrow ? '' : 'limit '}${limit < 0 ? '1/' : ''}${times10(Math.exp(epsilon))}`));
  svg.append(make('line', { x1: x(0), x2: x(0), y1: top - 6, y2: height - 20, class: 'zero' }));
  rows.forEach(({ visit, ratio, isTrue }, i) => {
    const y = top + i * row;
    svg.append(make('text', { x: 0, y: y + 15 }, inShort(visit)),
      isTrue ? make('circle', { cx: x(0), cy: y + row / 2 - 2, r: 5, class: 'true' }) : make('rect', { x: Math.min(x(0), x(ratio)), y: y + 3, width: Math.max(1, Math.abs(x(ratio) - x(0))), height: row - 9, class: 'noise' }));
  });
  for (const [v, text] of narrow ? [[0, 'as likely']] : [[Math.log(1 / 4), '¼ as likely'], [0, 'as likely'], [Math.log(4), '4 times as likely']]) svg.append(make('text', { x: x(v), y: height - 4, 'text-anchor': 'middle', class: 'soft' }, text));
  place.replaceChildren(svg);
}

/* What the observer would have thought after each of many reports on the same visit, as a histogram up to the most that epsilon allows. */
function drawSpread(place, beliefs, epsilon) {
  const width = roomOf(place, 900), height = 170, left = 8, right = width - 8, top = 34, bottom = height - 24, bins = Math.min(40, Math.floor(width / 20)), most = mostBelief(epsilon), end = most * 1.04;
  const x = (p) => left + (p / end) * (right - left), counts = new Array(bins).fill(0), before = 1 / visits.length;
  for (const b of beliefs) counts[Math.min(bins - 1, Math.floor((b / most) * bins))]++;
  const svg = drawing(width, height, 'What the observer would have given your visit', `In ${beliefs.length} reports between ${percent(Math.min(...beliefs))} and ${percent(Math.max(...beliefs))}; the most that is possible is ${percent(most)}.`);
  counts.forEach((n, i) => svg.append(make('rect', { x: x((i * most) / bins) + 0.5, y: bottom - (n / Math.max(...counts)) * (bottom - top), width: x(most / bins) - x(0) - 1, height: (n / Math.max(...counts)) * (bottom - top), class: 'noise' })));
  svg.append(make('line', { x1: left, x2: right, y1: bottom, y2: bottom, class: 'zero' }), make('line', { x1: x(before), x2: x(before), y1: top - 8, y2: bottom, class: 'best' }), make('text', { x: x(before), y: 14, 'text-anchor': 'middle' }, `before: ${percent(before)}`),
    make('line', { x1: x(most), x2: x(most), y1: top - 8, y2: bottom, class: 'limit' }), make('text', { x: right, y: 14, 'text-anchor': 'end' }, `limit ${percent(most)}`));
  for (let p = 0; p < most; p += 0.1) svg.append(make('text', { x: x(p), y: height - 8, 'text-anchor': p === 0 ? 'start' : 'middle', class: 'soft' }, percent(p, 0)));
  place.replaceChildren(svg);
}

function drawCurve(points, visitors) {
  const width = roomOf($('curve'), 620), height = 240, left = 44, bottom = 30, right = width - 12;
  const svg = drawing(width, height, 'Visitors who like their drink', points.length === 0 ? 'No simulated visitors yet.' : `${visitors} visitors; ${number(100 * points.at(-1).share, 0)} percent of the last like their drink; the best that is possible is ${number(100 * best, 0)} percent.`);
  const x = (n) => left + (n / Math.max(visitors, 500)) * (right - left), y = (share) => height - bottom - share * (height - bottom - 12);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) svg.append(make('line', { x1: left, x2: right, y1: y(share), y2: y(share), class: 'axis' }), make('text', { x: left - 6, y: y(share) + 4, 'text-anchor': 'end', class: 'soft' }, `${100 * share} %`));
  svg.append(make('line', { x1: left, x2: right, y1: y(best), y2: y(best), class: 'best' }), make('line', { x1: left, x2: right, y1: y(chance), y2: y(chance), class: 'limit' }));
  if (points.length > 0) svg.append(make('path', { class: 'line', d: points.map((p, i) => `${i === 0 ? 'M' : 'L'}${x(p.visitors).toFixed(1)} ${y(p.share).toFixed(1)}`).join('') }));
  svg.append(make('text', { x: right, y: y(best) + 16, 'text-anchor': 'end', class: 'label' }, 'the best offers'), make('text', { x: right, y: y(chance) + 16, 'text-anchor': 'end', class: 'label' }, 'offers at random'));
  svg.append(make('text', { x: left, y: height - 8, class: 'soft' }, '0'), make('text', { x: right, y: height - 8, 'text-anchor': 'end', class: 'soft' }, `${Math.max(visitors, 500).toLocaleString('en')} visitors`));
  $('curve').replaceChildren(svg);
}

function drawPolicy({ policy, mixed, version, users }) {
  const table = document.createElement('table'), cell = (name, text, scope) => {
    const e = document.createElement(name);
    e.textContent = text;
    if (scope) e.scope = scope;
    return e;
  };
  const head = table.createTHead().insertRow(), body = table.createTBody();
  table.createCaption().textContent = `The public billboard, version ${version}, after ${users.toLocaleString('en')} reports. In brackets, what the café does not know: how many like the drink.`;
  head.append(cell('th', '', 'col'), ...drinks.map((d) => cell('th', d, 'col')));
  times.forEach((time, s) => {
    const row = body.insertRow();
    row.append(cell('th', time, 'row'));
    drinks.forEach((_, a) => {
      const share = policy ? Number(policy[0][s] === a) : mixed[0][s][a], td = row.insertCell();
      td.textContent = `${share === 1 ? 'offered' : share === 0 ? '–' : percent(share, 0)} (${100 * tastes[s][a]} %)`;
      td.className = share > 0.5 ? 'chosen' : '';
    });
  });
  $('policy').replaceChildren(table);
}

/* --- The visitor --------------------------------------------------------------------------------- */

const complain = (e) => { $('problem').textContent = e === null ? '' : e.code === 'token' || e.status === 401 ? 'This page needs a token of the scopes report and read in its address: /demo#token=…' : `${e.message}`; };
let client = null, visit = null, scales = null, person = sessionStorage.getItem('person') ?? 'first';

async function readScales() {
  const answer = await fetch(`/v1/guarantee?learner=${learner}`, { headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw Object.assign(new Error(`the service answers ${answer.status}`), { status: answer.status });
  const { plan } = await answer.json();
  return streams.map(({ name }) => plan.releases.find((r) => r.name === name).scale);
}

async function begin(event) {
  event.preventDefault();
  complain(null);
  try {
    scales ??= await readScales();
    client = await Client.open(url, { ...terms, token, person });
    const time = Number(new FormData($('visit')).get('time')), { action } = client.act({ state: time });
    visit = { time, drink: action, liked: null };
    $('offered').textContent = `The billboard says: ${drinks[action]}.`;
    $('offer').hidden = false;
    if (client.facts.left === 0) alreadyDone();
    else $('like').focus();
  } catch (e) {
    complain(e);
  }
}

/* A reload, or the button pressed again: the device has made its report. */
function alreadyDone() {
  $('offer').hidden = true;
  $('nothing').hidden = true;
  $('report').hidden = false;
  $('sent').textContent = 'This device has made its one report and makes no second one, whatever you press. Send what waits, or be somebody else.';
  for (const id of ['noisy', 'noise-note', 'bytes']) $(id).replaceChildren();
  $('again').focus();
}

async function live(liked) {
  visit.liked = liked;
  try {
    const { body } = await client.report({ states: [visit.time], actions: [visit.drink], rewards: [liked ? 1 : 0] });
    show(body);
  } catch (e) {
    if (e.code === 'EXHAUSTED') alreadyDone();
    else complain(e);
  }
}

function show(body) {
  const exact = contribution(visit), report = read(body), drawn = Array.from({ length: cells }, (_, i) => [visitAt(i), rewardAt(i)]).flat(), limit = Math.max(3, ...drawn.map((i) => Math.abs(report.numbers[i])));
  $('visit').querySelectorAll('input, button').forEach((e) => { e.disabled = true; });
  $('offer').hidden = true;
  $('happened').hidden = false;
  $('story').textContent = `What happened: ${inWords(visit)}.`;
  drawNumbers($('truth'), exact, null, limit, 'What happened to you');
  $('noise-note').textContent = `Noise of ${number(scales[0])} on every visit and ${number(scales[1])} on every reward (the mean distance of Laplace noise); the dots are the exact numbers. The bytes have ${report.numbers.length - drawn.length} more numbers, which are zero for everybody here, and noise.`;
  drawBytes(report);
  $('nothing').hidden = true;
  $('report').hidden = false;
  drawNumbers($('noisy'), report.numbers, exact, limit, 'The report, with the exact numbers as dots');
  const { rows, belief } = weigh(report.numbers, visit, scales), guess = rows[0];
  $('observer').hidden = false;
  $('repeated').textContent = '';
  $('spread').replaceChildren();
  $('conclusion').textContent = `There are ${rows.length} possible visits. An observer holds them all for equally likely, and reads your report. ${guess.isTrue ? 'Their best guess is right this time.' : `Their best guess is wrong: ${inWords(guess.visit)}.`} They believe in yours:`;
  for (const [id, p] of [['before', 1 / rows.length], ['after', belief], ['most', mostBelief(terms.epsilon)]]) $(`belief-${id}`).textContent = percent(p);
  $('ratio-note').textContent = `Each bar compares a visit with yours (the dot). No report can push a bar beyond the dashed lines: that is ε = ${terms.epsilon}, e to the power of ${terms.epsilon} being ${times10(Math.exp(terms.epsilon))}. It holds whatever else the observer knows.`;
  drawRatios($('ratios'), rows, terms.epsilon);
  $('send').focus();
}

/* The same visit, with noise of its own each time. These devices have no memory, and nothing of them is sent. */
async function repeat() {
  $('repeat').disabled = true;
  try {
    const board = await (await fetch(url)).text(), beliefs = [], { time, drink, liked } = visit, n = 1000;
    let right = 0;
    for (let i = 0; i < n; i++) {
      const device = await Client.open(url, { ...terms, storage: memoryStorage(), fetch: async () => new Response(board) });
      const { body } = await device.report({ states: [time], actions: [drink], rewards: [liked ? 1 : 0] });
      device.close();
      const { rows, belief } = weigh(read(body).numbers, visit, scales);
      beliefs.push(belief);
      right += rows[0].isTrue ? 1 : 0;
      if (i % 50 === 49) await new Promise((resolve) => { setTimeout(resolve); });
    }
    $('repeated').textContent = `In ${n.toLocaleString('en')} reports of this visit, the observer's best guess would have been right ${right} times. Without any report it is right ${Math.round(n / visits.length)} times, and without noise always.`;
    drawSpread($('spread'), beliefs, terms.epsilon);
  } catch (e) {
    complain(e);
  }
  $('repeat').disabled = false;
}

async function send() {
  complain(null);
  try {
    const { sent, waiting, problem } = await client.send();
    $('send').disabled = waiting === 0;
    $('sent').textContent = sent.length > 0 ? `Sent: the service says “${sent[0].status}”. Reload the page if you like: this device makes no second report.` : waiting > 0 ? `It waits in this page's storage (${problem.message}).` : 'Nothing waits: the service has your report.';
  } catch (e) {
    complain(e);
  }
}

function becomeAnother() {
  person = [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16)).join('');
  sessionStorage.setItem('person', person);
  client?.close();
  $('visit').querySelectorAll('input, button').forEach((e) => { e.disabled = false; });
  for (const id of ['offer', 'happened', 'report', 'observer']) $(id).hidden = true;
  $('nothing').hidden = false;
  $('sent').textContent = '';
  $('send').disabled = false;
  $('act').focus();
}

/* --- The crowd ------------------------------------------------------------------------------------ */

const WINDOW = 400; // visitors that a point of the curve is about
const worker = new Worker('/demo/crowd.js', { type: 'module' }), points = [], recent = [];
let visitors = 0;

function busy(yes) {
  document.querySelectorAll('button.crowd').forEach((b) => { b.disabled = yes; });
  $('stop').disabled = !yes;
}

worker.onmessage = async ({ data }) => {
  if (data.done) {
    busy(false);
    if (data.problem) complain(new Error(data.problem));
    $('progress').textContent = `${visitors.toLocaleString('en')} simulated visitors have come.`;
    await refresh();
    return;
  }
  visitors += data.visitors;
  recent.push(data);
  while (recent.length > 1 && recent.slice(1).reduce((n, r) => n + r.visitors, 0) >= WINDOW) recent.shift();
  const n = recent.reduce((sum, r) => sum + r.visitors, 0);
  points.push({ visitors, share: recent.reduce((sum, r) => sum + r.liked, 0) / n });
  $('progress').textContent = `${visitors.toLocaleString('en')} visitors; ${number((100 * points.at(-1).share), 0)} % of the last ${n} like their drink.`;
  drawCurve(points, visitors);
  if (data.board) drawPolicy(data.board);
};

async function refresh() {
  try {
    drawPolicy(await (await fetch(url, { cache: 'no-store' })).json());
  } catch (e) {
    complain(e);
  }
}

$('visit').addEventListener('submit', begin);
$('like').addEventListener('click', () => live(true));
$('dislike').addEventListener('click', () => live(false));
$('send').addEventListener('click', send);
$('repeat').addEventListener('click', repeat);
$('again').addEventListener('click', becomeAnother);
$('stop').addEventListener('click', () => worker.postMessage({ stop: true }));
for (const button of document.querySelectorAll('button.crowd')) button.addEventListener('click', () => {
  busy(true);
  complain(null);
  worker.postMessage({ visitors: Number(button.dataset.visitors), token });
});
drawCurve(points, 0);
await refresh();
