/* The live page, as a reader sees it: asks for a token, refuses a wrong one, shows figures and curves, follows what happens, and stops
 * at the wall of the budget; asks nobody but the service for anything, and puts nothing red on the console. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { open, tab } from './chromium.mjs';

const [, , program, url, reader, user] = process.argv;
const browser = await open(program);

async function until(page, expression, what) {
  for (let i = 0; i < 400; i++) {
    if (await page.ask(expression)) return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  throw new Error(`${what}; the page shows: ${await page.ask('document.body.innerText')}`);
}
const figure = (learner, name) => `document.querySelector('[data-learner=${learner}] [data-figure=${name}]')?.textContent`;
const give = (page, token) => page.ask(`(() => { document.getElementById('token').value = ${JSON.stringify(token)};
  document.getElementById('gate').requestSubmit(); })()`);

try {
  const page = await tab(browser, { width: 1000, height: 1200 });
  await page.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await page.go(url + '/');
  await until(page, "!document.getElementById('gate').hidden", 'a token is asked for');
  await give(page, user); // a token, but not one that may read
  await until(page, "document.getElementById('problem').textContent.includes('may not read')", 'it may not read');
  page.problems.length = 0; // the console notes refusals, which were wanted
  await give(page, reader);
  await until(page, `${figure('clinic', 'users')} === '30'`, 'thirty users');
  assert.equal(await page.ask("document.getElementById('gate').hidden"), true);
  assert.equal(await page.ask(figure('clinic', 'left')), '30');
  assert.equal(await page.ask(figure('clinic', 'learning')), 'yes');
  assert.match(await page.ask(figure('clinic', 'reward')), /^-?\d+\.\d{3} ± \d+\.\d{3}$/);
  assert.equal(await page.ask(figure('quiet', 'reward')), 'not released');
  assert.equal(await page.ask("document.querySelectorAll('[data-learner]').length"), 3);
  await until(page, `${figure('phone', 'users')} === '200'`, 'two hundred devices');
  assert.match(await page.ask(figure('phone', 'reward')), /^-?\d+\.\d{3} ± 0\.0\d{2}$/);
  // reward over time in both models: a line of several points that is seen, and none where nothing is released
  const line = (learner) => `document.querySelector('[data-learner=${learner}] [data-curve=reward] path.line')`;
  for (const learner of ['clinic', 'phone']) {
    assert.ok(await page.ask(`${line(learner)}.getAttribute('d').split('L').length > 5`), learner);
    assert.ok(await page.ask(`(() => { const b = ${line(learner)}.getBoundingClientRect(); return b.width > 300 && b.height > 5; })()`), learner);
    assert.ok(await page.ask(`!/NaN|Infinity/.test(${line(learner)}.getAttribute('d'))`), learner);
  }
  assert.equal(await page.ask(line('quiet')), null);
  assert.ok(await page.ask("document.querySelector('[data-learner=quiet] [data-curve=reward]').textContent.includes('no curve yet')"));
  assert.ok(await page.ask("document.querySelector('[data-learner=phone]').innerText.includes('guarantee ε 3, δ 0 (of this the mean reward ε 2, δ 0)')"));
  assert.ok(await page.ask("document.querySelector('[data-learner=phone]').innerText.includes('together at most (3, 0)')"));
  assert.ok(await page.ask("document.querySelector('[data-learner=phone]').innerText.includes('own: visits, moves, rewards, reward')"));
  assert.ok(await page.ask("document.querySelector('[data-learner=clinic]').innerText.includes('visits 30 of 59')"));
  assert.ok(await page.ask("document.querySelector('[data-learner=clinic]').innerText.includes('together at most')"));
  const version = Number(await page.ask(figure('clinic', 'version')));
  writeFileSync(process.env.TACIT_MORE, 'go\n'); // forty more come; ten of them too many
  await until(page, `${figure('clinic', 'left')} === '0' && ${figure('clinic', 'users')} === '60'`, 'the budget is spent');
  assert.equal(await page.ask(figure('clinic', 'learning')), 'no');
  assert.ok(await page.ask("document.querySelector('[data-learner=clinic]').innerText.includes('the budget is spent')"));
  assert.ok(Number(await page.ask(figure('clinic', 'version'))) >= version);
  assert.equal(await page.ask("document.querySelector('[data-learner=clinic] [role=progressbar]').getAttribute('aria-valuenow')"), '100');
  assert.equal(await page.ask('document.body.scrollWidth <= window.innerWidth'), true);
  assert.deepEqual(page.problems, []);
  for (const request of page.requests) assert.ok(request.startsWith(url) || request.startsWith('data:'), request);
  // the network goes and comes back: it says so, keeps what it has, and recovers by itself
  const network = (offline) => page.send('Network.emulateNetworkConditions', { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await network(true);
  await until(page, "document.getElementById('problem').textContent.includes('does not answer')", 'it says that nobody answers');
  assert.equal(await page.ask(figure('clinic', 'users')), '60');
  await network(false);
  await until(page, "document.getElementById('problem').textContent === ''", 'it recovers');
  page.problems.length = 0; // the console notes what was not reached
  // dark, and narrow as a telephone
  const small = await tab(browser, { width: 380, height: 800, dark: true });
  await small.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await small.go(`${url}/#token=${reader}`);
  await until(small, `${figure('clinic', 'users')} === '60'`, 'the token may come with the address');
  assert.equal(await small.ask('document.documentElement.scrollWidth <= window.innerWidth'), true);
  assert.deepEqual(small.problems, []);
  if (process.env.TACIT_PICTURE) writeFileSync(process.env.TACIT_PICTURE, await page.picture(true));
} finally {
  await browser.close();
}
