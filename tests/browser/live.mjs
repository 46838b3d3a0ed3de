/* The live page, as a reader sees it: asks for a token, refuses a wrong one, shows figures and curves, follows what happens, and stops
 * at the wall of the budget; asks nobody but the service for anything, and puts nothing red on the console. Then a service that is made
 * up (seeded.mjs), whose every number is known, on screens wide and narrow, light and dark. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { open, tab } from './chromium.mjs';
import { answers, now, script } from './seeded.mjs';

const [, , program, url, reader, user] = process.argv;
const browser = await open(program);

async function until(page, expression, what) {
  for (let i = 0; i < 400; i++) {
    if (await page.ask(expression)) return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  throw new Error(`${what}; the page shows: ${await page.ask('document.body.innerText')}`);
}
const part = (learner, selector) => `document.querySelector('[data-learner=${learner}] ${selector}')`;
const figure = (learner, name) => `${part(learner, `[data-figure=${name}]`)}?.textContent`;
const says = (page, learner, text) => page.ask(`document.querySelector('[data-learner=${learner}]').textContent.replaceAll('\\u00a0', ' ').includes(${JSON.stringify(text)})`);
const network = (page, offline) => page.send('Network.emulateNetworkConditions', { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
const give = (page, token) => page.ask(`(() => { document.getElementById('token').value = ${JSON.stringify(token)};
  document.getElementById('gate').requestSubmit(); })()`);

async function atTheGate(page) {
  await page.go(url + '/');
  await until(page, "!document.getElementById('gate').hidden", 'a token is asked for');
  assert.match(await page.ask("document.getElementById('gate').textContent"), /tacit token create .* --scopes read/);
  await give(page, 'nobody-has-made-this-one');
  await until(page, "document.getElementById('problem').textContent.includes('does not know this token')", 'it is not known');
  await give(page, user); // a token, but not one that may read
  await until(page, "document.getElementById('problem').textContent.includes('may not read')", 'it may not read');
  page.problems.length = 0; // the console notes refusals, which were wanted
  await give(page, reader);
  await until(page, `${figure('clinic', 'users')} === '30'`, 'thirty users');
  assert.equal(await page.ask("document.getElementById('gate').hidden"), true);
}

async function whatHappened(page) {
  assert.equal(await page.ask(figure('clinic', 'left')), '30');
  assert.equal(await page.ask(figure('clinic', 'learning')), 'yes');
  assert.match(await page.ask(figure('clinic', 'reward')), /^-?\d+\.\d{3} ± \d+\.\d{3}$/);
  assert.equal(await page.ask(figure('quiet', 'reward')), 'not released');
  assert.equal(await page.ask("document.querySelectorAll('[data-learner]').length"), 3);
  await until(page, `${figure('phone', 'users')} === '200'`, 'two hundred devices');
  assert.match(await page.ask(figure('phone', 'reward')), /^-?\d+\.\d{3} ± 0\.0\d{2}$/);
  // rewards in both models: a line of several points that is seen, with a band, and none where nothing is released
  for (const learner of ['clinic', 'phone']) {
    for (const [line, least] of [[part(learner, '[data-curve=reward] path.line'), 5], [part(learner, '[data-curve=reward] path.band'), 10]]) {
      assert.ok(await page.ask(`${line}.getAttribute('d').split('L').length > ${least}`), learner);
      assert.ok(await page.ask(`(() => { const b = ${line}.getBoundingClientRect(); return b.width > 200 && b.height > 5; })()`), learner);
      assert.ok(await page.ask(`!/NaN|Infinity/.test(${line}.getAttribute('d'))`), learner);
    }
  }
  assert.equal(await page.ask(part('quiet', '[data-curve=reward]')), null);
  assert.ok(await says(page, 'quiet', 'They are not released'));
  assert.ok(await says(page, 'phone', 'ε 3, δ 0 (the mean reward alone ε 2, δ 0)'));
  assert.ok(await says(page, 'phone', 'together at most (3, 0)'));
  assert.equal(await page.ask(`[...document.querySelectorAll('[data-learner=phone] tbody th')].map((e) => e.textContent).join()`), 'visits,moves,rewards,reward');
  assert.equal(await page.ask(`[...document.querySelectorAll('[data-learner=clinic] tbody tr')][0].innerText.replaceAll(/\\s+/g, ' ')`).then((t) => t.startsWith('visits 30 59 ')), true);
  assert.ok(await says(page, 'clinic', 'together at most'));
  assert.ok(await page.ask(`/^POST .v1.episodes\\t[0-9,]+\\t0\\t0\\t/m.test(document.getElementById('traffic').innerText)`), 'requests are counted');
  assert.equal(await page.ask("document.getElementById('state').textContent"), 'serving');
  // the shares are those of the billboard, whatever the users did
  const { policy } = await (await fetch(`${url}/v1/billboard?learner=clinic`)).json(), all = policy.flat();
  const shown = await page.ask(`[...document.querySelectorAll('[data-learner=clinic] [data-share]')].map((e) => e.textContent)`);
  assert.deepEqual(shown, [0, 1].map((a) => `${(100 * all.filter((p) => p === a).length / all.length).toFixed(1)} %`));
}

/* What one person pays is said before any learner, with the numbers of /v1/guarantee. */
async function onePerson(page) {
  const { person } = await (await fetch(`${url}/v1/guarantee?learner=quiet`, { headers: { Authorization: 'Bearer ' + reader } })).json();
  assert.match(person.sentences[0], /^for one person: epsilon [0-9.]+, delta [0-9.e-]+$/);
  assert.ok(person.guarantee.epsilon > 3 && person.guarantee.epsilon < 1 + 4 + 3 + 2);
  assert.ok(person.guarantee.epsilon <= Number(person.sentences[0].match(/epsilon ([0-9.]+)/)[1]));
  assert.equal(await page.ask("document.querySelector('#person .person').textContent"), 'F' + person.sentences[0].slice(1) + '.');
  assert.deepEqual(await page.ask("[...document.querySelectorAll('#person li')].map((e) => e.textContent)"), person.sentences.slice(1));
  assert.ok(await page.ask("(document.getElementById('person').compareDocumentPosition(document.getElementById('learners')) & Node.DOCUMENT_POSITION_FOLLOWING) > 0"));
}

async function theWall(page) {
  const version = Number(await page.ask(figure('clinic', 'version')));
  await page.ask("window.kept = document.querySelector('[data-learner=quiet]'); true");
  writeFileSync(process.env.TACIT_MORE, 'go\n'); // forty more come; ten of them too many
  await until(page, `${figure('clinic', 'left')} === '0' && ${figure('clinic', 'users')} === '60'`, 'the budget is spent');
  assert.equal(await page.ask(figure('clinic', 'learning')), 'no');
  assert.ok(await says(page, 'clinic', 'the budget is spent'));
  assert.ok(Number(await page.ask(figure('clinic', 'version'))) >= version);
  assert.equal(await page.ask(`${part('clinic', '[role=progressbar]')}.getAttribute('aria-valuenow')`), '100');
  assert.equal(await page.ask("window.kept === document.querySelector('[data-learner=quiet]')"), true, 'what did not change is not drawn again');
  assert.deepEqual(page.problems, []);
  for (const request of page.requests) assert.ok(request.startsWith(url) || request.startsWith('data:'), request);
}

/* It says that the service is gone, keeps what it has, and recovers by itself. */
async function theNetworkGoes(page) {
  await network(page, true);
  await until(page, "document.getElementById('problem').textContent.includes('does not answer')", 'it says that nobody answers');
  assert.equal(await page.ask(figure('clinic', 'users')), '60');
  await network(page, false);
  await until(page, "document.getElementById('problem').textContent === ''", 'it recovers');
  page.problems.length = 0; // the console notes what was not reached
}

/* Nothing of the page's own may be written into it, and nothing that a service says can be. */
async function thePolicy() {
  const answer = await fetch(url + '/'), policy = answer.headers.get('content-security-policy');
  assert.ok(!policy.includes('unsafe') && policy.includes("script-src 'self'") && policy.includes("style-src 'self'"), policy);
  assert.ok(!/<style|<script>| style=| on[a-z]+=/.test(await answer.text()));
}

async function whatIsKnown(page) {
  const text = (selector) => page.ask(`document.querySelector('${selector}').textContent.replaceAll('\\u00a0', ' ')`);
  const of = (learner, selector) => page.ask(`[...document.querySelectorAll('[data-learner=${learner}] ${selector}')].map((e) => e.textContent)`);
  // 350 users in the last week, 7,500 left: 150 days
  assert.equal(await page.ask(`Date.parse(${part('clinic', '[data-figure=end]')}.dateTime)`), 1000 * (now + 150 * 86400));
  assert.match(await text('[data-learner=clinic] .budget'), /^Budget: 2,500 of 10,000 users, 25\.0 %\. At the rate of users since November \d+, 2026 it ends about April 1\d, 2027\.$/);
  assert.match(await text('[data-learner=phone] .budget'), /It is spent/);
  assert.match(await text('[data-learner=banner] .budget'), /^Budget: 0 of 1,000,000 users, 0\.0 %\. There is no forecast/);
  assert.equal(await page.ask(`${part('banner', '.bar i')}.getBoundingClientRect().width`), 0, 'nothing is spent');
  // all learners in a table, and from there to each of them
  assert.deepEqual((await page.ask(`[...document.querySelectorAll('#overview tbody tr')].map((r) => [...r.children].map((c) => c.textContent).join('|'))`)).map((r) => r.replace(/April 1\d/, 'April 1x')),
    ['clinic|2,500|25.0 %|April 1x, 2027|0.697 ± 0.003', 'phone|500|100.0 %|spent|–', 'banner|0|0.0 %|–|–', 'many|10|1.0 %|–|–']);
  assert.equal(await page.ask(`[...document.querySelectorAll('#overview a')].every((a) => document.querySelector(a.hash)?.dataset.learner === a.textContent)`), true);
  assert.match(await text('#story'), /^3,010 users taught 4 learners, of which 3 are still learning\. At its present rate clinic is the first whose budget ends, about April 1\d, 2027\.$/);
  assert.match(await text('#facts'), /812 commits since then, 1 failure\.$/);
  assert.equal(await text('[data-learner=clinic] [data-figure=reward]'), '0.697 ± 0.003');
  // actions, by name where there are names; a name is text
  assert.deepEqual(await of('clinic', '[data-share]'), ['25.0 %', '75.0 %', '0.0 %']);
  assert.deepEqual(await of('clinic', '[data-curve=actions] text.ink').then((l) => l.slice(0, 2)), ['low dose', 'medium dose']);
  assert.deepEqual(await of('clinic', '[data-curve=actions] text title'), ['<b>high dose</b> of a name that does not fit']);
  assert.deepEqual(await of('phone', '[data-share]'), ['50.0 %', '50.0 %']);
  assert.deepEqual(await of('banner', '[data-share]'), []);
  assert.match(await text('[data-learner=banner] figure:last-child figcaption'), /not shown.*made of their own data/);
  assert.deepEqual(await of('many', '[data-share]').then((l) => [l.length, l[0], l.at(-1)]), [10, '5.0 %', '55.0 %']);
  assert.deepEqual(await of('many', '[data-curve=actions] text.ink').then((l) => l.at(-1)), '11 others');
  assert.deepEqual(await page.ask(`[...document.querySelectorAll('#traffic tbody tr')].map((r) => [...r.children].map((c) => c.textContent).join('|'))`),
    ['POST /v1/decide|2,600|17|0|0.0084', 'POST /v1/observe|2,500|0|3|5', 'POST /v1/episodes/{id}/observe|12,345,678|0|0|8', 'no such route|0|3|0|–']);
  assert.match(await text('[data-learner=clinic] .sentences'), /continued 1 time from a copy; a person in all of its lives has ε 2\.5, δ 2×10⁻⁶\.$/);
  assert.ok(!(await text('[data-learner=phone] .sentences')).includes('lives'));
  assert.match(await text('[data-learner=phone] .sentences'), /may lose what it acknowledged \(unsafe: yes\)/);
  assert.ok(!(await text('[data-learner=clinic] .sentences')).includes('unsafe'));
  assert.equal(await page.ask('location.hash'), '');
  assert.deepEqual(await of('clinic', 'tbody tr:first-child > *'), ['visits', '2,500', '9,999', '4', '12.5']);
  // the band: two errors above and below the line, at its beginning, in the line's own scale
  const place = (selector, i) => page.ask(`(() => { const d = ${part('clinic', `[data-curve=reward] ${selector}`)}.getAttribute('d'); return Number(d.slice(1).replace('Z', '').split('L').at(${i}).split(' ')[1]); })()`);
  const [mean, last, high, low] = [await place('path.line', 0), await place('path.line', -1), await place('path.band', 0), await place('path.band', -1)];
  const { points } = answers['/v1/history?learner=clinic'], scale = (last - mean) / (points.at(-1).reward - points[0].reward);
  for (const [edge, sign] of [[high, 1], [low, -1]]) assert.ok(Math.abs(edge - mean - sign * 2 * points[0].error * scale) < 1, `${edge} ${mean} ${scale}`);
}

/* What is wrong is said in a word. */
async function whatIsWrong(page) {
  for (const [health, words] of [[{ status: 'failing' }, 'the store cannot be written'], [{ status: 'ok', store: 'behind' }, 'the store went back'], [{ status: 'ok', store: 'fine' }, 'serving']]) {
    await page.ask(`seeded['/healthz'] = { version: '0.0.0', ...${JSON.stringify(health)} }; true`);
    await until(page, `document.getElementById('state').textContent === ${JSON.stringify(words)}`, words);
  }
}

/* The first sentence, for one learner and for nobody yet; a rate of today is of a time, and a small share is not none. */
async function theStory(page) {
  const story = (pattern) => until(page, `${pattern}.test(document.getElementById('story').textContent)`, String(pattern));
  await page.ask(`window.all = seeded['/v1/learners'].learners; seeded['/v1/learners'] = { learners: all.slice(0, 1) }; true`);
  await story(/^2,500 users taught 1 learner, which is still learning\. At the present rate its budget ends about April 1\d, 2027\.$/);
  assert.equal(await page.ask("document.getElementById('overview').hidden"), true);
  await page.ask(`seeded['/v1/learners'] = { learners: all.slice(1, 2) }; true`);
  await story(/^500 users taught 1 learner, which is not learning any more\.$/);
  await page.ask(`seeded['/v1/learners'] = { learners: all.slice(2, 3) }; true`);
  await story(/^No users have come yet\. The learner is waiting for them\.$/);
  await page.ask(`seeded['/v1/history?learner=clinic'].points = [{ users: 10, at: ${now - 7200}, version: 1, reward: null, error: null }];
    seeded['/v1/learners'] = { learners: [{ ...all[0], limit: 1e7, left: 1e7 - 2500 }] }; true`);
  await until(page, `/^Budget: 2,500 of 10,000,000 users, < 0\.1 %\. At the rate of users since Nov 16, 2026, \\d+:\\d\\d.[AP]M it ends about /.test(${part('clinic', '.budget')}?.textContent)`, 'a rate of two hours');
}

/* Nothing wider than the window, no text below 11 pixels, and text against its background by the formula of WCAG 2.1, 4.5 at least. */
async function canBeRead(page, name) {
  const seen = await page.ask(`(() => {
    const light = (c) => { const [r, g, b] = c.match(/[0-9.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
    const poor = new Set();
    for (const e of document.querySelectorAll('main *')) {
      if (e.getClientRects().length === 0 || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || e.tagName === 'title') continue;
      const style = getComputedStyle(e), a = light(e.ownerSVGElement ? style.fill : style.color), b = light(behind(e.ownerSVGElement ?? e));
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5 || parseFloat(style.fontSize) < 11) poor.add(e.tagName + '.' + (e.className.baseVal ?? e.className) + ' ' + ratio.toFixed(2) + ' ' + style.fontSize);
    }
    const outside = [...document.querySelectorAll('main svg text')].filter((t) => { const r = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect(); return r.left < s.left - 1 || r.right > s.right + 1; }).map((t) => t.textContent);
    const cut = [...document.querySelectorAll('main .wide')].filter((w) => w.scrollWidth > w.clientWidth).map((w) => w.textContent);
    return { window: innerWidth, page: document.documentElement.scrollWidth, poor: [...poor], outside, cut };
  })()`);
  assert.ok(seen.page <= seen.window, `${name}: too wide: ${JSON.stringify(seen)}`);
  assert.deepEqual([seen.poor, seen.outside, seen.cut], [[], [], []], name);
  const structure = await page.ask(`({ h1: document.querySelectorAll('h1').length, rows: [...document.querySelectorAll('table')].every((t) => t.querySelector('th[scope=row]')),
    titles: [...document.querySelectorAll('svg[role=img]')].every((s) => s.querySelector('title')), bold: document.querySelectorAll('main svg b, main b b').length })`);
  assert.deepEqual(structure, { h1: 1, rows: true, titles: true, bold: 0 }, name);
}

try {
  const page = await tab(browser, { width: 1000, height: 1200 });
  await network(page, false);
  for (const step of [atTheGate, whatHappened, onePerson, theWall, theNetworkGoes, thePolicy]) await step(page);
  assert.equal(await page.ask('document.documentElement.scrollWidth <= window.innerWidth'), true);
  const small = await tab(browser, { width: 390, height: 844 });
  await network(small, false);
  await small.go(`${url}/#token=${reader}`);
  await until(small, `${figure('clinic', 'users')} === '60'`, 'the token may come with the address');
  await canBeRead(small, 'a telephone');
  assert.deepEqual(small.problems, []);
  for (const width of [1400, 390])
    for (const dark of [false, true]) {
      const known = await tab(browser, { width, height: 900, dark }), name = `${width}${dark ? ' dark' : ''}`;
      await network(known, false);
      await known.send('Page.addScriptToEvaluateOnNewDocument', { source: script });
      await known.go(`${url}/#token=made-up`);
      await until(known, `${figure('clinic', 'users')} === '2,500'`, name);
      await whatIsKnown(known);
      await canBeRead(known, name);
      assert.deepEqual(known.problems, [], name);
      if (process.env.TACIT_PICTURES) writeFileSync(`${process.env.TACIT_PICTURES}/live-${name.replace(' ', '-')}.png`, await known.picture(true));
      if (name === '1400') for (const step of [whatIsWrong, theStory]) await step(known);
    }
} finally {
  await browser.close();
}
