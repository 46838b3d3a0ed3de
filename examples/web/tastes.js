/* What the page and its worker agree on: the café, the visitors' tastes, and how a report is read.
 *
 * A report of this learner (dp-ucbvi, horizon 1) is 24 bytes of the learner's mark and terms, 8 of the step (all ones), then
 * numbers of 8 bytes, low byte first: visits [time][drink], moves [time][drink][next time], rewards [time][drink]; and 16
 * random bytes at its end. Numbers are multiples of 2^-26, rewards of 2^-27. A visit is 1 in its cell; a reward is what was
 * received less one half, there. */
export const times = ['morning', 'evening'], drinks = ['coffee', 'lemonade', 'tea'];
const S = times.length, A = drinks.length;
export const learner = 'cafe';

/* How many of the simulated visitors like a drink. The café does not know this. */
export const tastes = [[0.9, 0.25, 0.45], [0.15, 0.35, 0.9]];
export const best = tastes.reduce((sum, row) => sum + Math.max(...row), 0) / S;

export const streams = [
  { name: 'visits', first: 0, n: S * A, bits: 26 },
  { name: 'moves', first: S * A, n: S * A * S, bits: 26 },
  { name: 'rewards', first: S * A * (1 + S), n: S * A, bits: 27 },
];
const NUMBERS = S * A * (2 + S), HEAD = 32, TAIL = 16;

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
  numbers[cell] = 1;
  numbers[streams[1].first + cell * S + time] = 1; // the next state is not looked at; the client repeats this one
  numbers[streams[2].first + cell] = liked ? 0.5 : -0.5;
  return numbers;
}

/** Every visit that there can be. */
export const visits = times.flatMap((_, time) => drinks.flatMap((__, drink) => [true, false].map((liked) => ({ time, drink, liked }))));

/** The logarithm of how likely these numbers are after a visit; `scales` are those of the Laplace noise, one for a stream. */
export function logLikelihood(numbers, visit, scales) {
  const exact = contribution(visit);
  let sum = 0;
  streams.forEach(({ first, n }, s) => { for (let i = first; i < first + n; i++) sum -= Math.abs(numbers[i] - exact[i]) / scales[s]; });
  return sum;
}
