/* What the page and its worker agree on: the café, the visitors' tastes, and how a report is read.
 *
 * A report of this learner (dp-ucbvi with two streams, horizon 1) is 24 bytes of the learner's mark and terms, 8 of the step
 * (all ones), then numbers of 8 bytes, low byte first: visits [time][drink][next time] and rewards [time][drink]; and 16 random
 * bytes at its end. Visits are multiples of 2^-26, rewards of 2^-27. A visit is 1 in its cell; a reward is what was received
 * less one half, there. What follows the only step is not looked at: the client repeats the time. */
export const times = ['morning', 'evening'], drinks = ['coffee', 'lemonade', 'tea'];
const S = times.length, A = drinks.length;
export const learner = 'cafe';

/* How many of the simulated visitors like a drink. The café does not know this. */
export const tastes = [[0.9, 0.25, 0.45], [0.15, 0.35, 0.9]];
export const chance = tastes.flat().reduce((a, b) => a + b) / (S * A); // of a drink that was offered at random
export const best = tastes.reduce((sum, row) => sum + Math.max(...row), 0) / S;

export const cells = S * A, streams = [
  { name: 'moves', first: 0, n: cells * S, bits: 26 },
  { name: 'rewards', first: cells * S, n: cells, bits: 27 },
];
const NUMBERS = cells * (S + 1), HEAD = 32, TAIL = 16;

/** Where the numbers of a time and a drink are. */
export const visitAt = (cell) => cell * S + Math.floor(cell / A), rewardAt = (cell) => streams[1].first + cell;

export function bytesOf(body) {
  const text = JSON.parse(body).report.replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/** The numbers of a report, and which of its bytes are what. */
export function read(body) {
  const bytes = bytesOf(body), view = new DataView(bytes.buffer);
  if (bytes.length !== HEAD + 8 * NUMBERS + TAIL) throw new Error(`the report has ${bytes.length} bytes, expected ${HEAD + 8 * NUMBERS + TAIL}: the learner is another one`);
  const numbers = [];
  for (const { first, n, bits } of streams)
    for (let i = first; i < first + n; i++) numbers.push(Number(view.getBigInt64(HEAD + 8 * i, true)) / 2 ** bits);
  return { bytes, numbers, head: HEAD, tail: bytes.length - TAIL };
}

/** The numbers before the noise: what one visit amounts to. */
export function contribution({ time, drink, liked }) {
  const numbers = new Array(NUMBERS).fill(0), cell = time * A + drink;
  numbers[visitAt(cell)] = 1;
  numbers[rewardAt(cell)] = liked ? 0.5 : -0.5;
  return numbers;
}

/** Every visit that there can be. */
export const visits = times.flatMap((_, time) => drinks.flatMap((__, drink) => [true, false].map((liked) => ({ time, drink, liked }))));

/* The logarithm of how likely these numbers are after a visit; `scales` are those of the Laplace noise, one for a stream. */
function logLikelihood(numbers, visit, scales) {
  const exact = contribution(visit);
  let sum = 0;
  streams.forEach(({ first, n }, s) => { for (let i = first; i < first + n; i++) sum -= Math.abs(numbers[i] - exact[i]) / scales[s]; });
  return sum;
}

/** What an observer who holds all visits for equally likely makes of a report: every visit with the logarithm of how much
 * likelier the report is after it than after the true one, the likeliest first; and the belief in the true one. */
export function weigh(numbers, truth, scales) {
  const base = logLikelihood(numbers, truth, scales);
  const rows = visits.map((visit) => ({ visit, ratio: logLikelihood(numbers, visit, scales) - base, isTrue: visit.time === truth.time && visit.drink === truth.drink && visit.liked === truth.liked }));
  return { rows: rows.sort((a, b) => b.ratio - a.ratio), belief: 1 / rows.reduce((sum, r) => sum + Math.exp(r.ratio), 0) };
}

/** The most that the belief can be: all others are e^epsilon times less likely. */
export const mostBelief = (epsilon) => 1 / (1 + (visits.length - 1) * Math.exp(-epsilon));
