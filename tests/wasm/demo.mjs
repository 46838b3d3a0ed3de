/* The demonstration (examples/web) in Chromium: demo.mjs BUILD CHROMIUM. With TACIT_PICTURES, a directory, pictures of it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../browser/chromium.mjs';
import { here, online, queued, serve } from './stage.mjs';

let service;
try {
  service = await serve(readFileSync(join(here, '../../examples/web/service.yaml'), 'utf8').replace('127.0.0.1:8480', '127.0.0.1:0'), [], 'report,read');
} catch (e) {
  if (!/built without/.test(e.message)) throw e;
  console.log('skipped: this tacit was built before make wasm; make builds it again');
  process.exit(77);
}
const browser = await open(process.argv[3]);
const rest = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function until(page, expression, what) {
  for (const end = Date.now() + 90000; Date.now() < end; await rest(50)) if (await page.ask(expression)) return;
  throw new Error(`${what}: ${await page.ask("document.getElementById('problem').textContent")} ${page.problems.join('\n')}`);
}

async function visit(options) {
  const page = await online(browser, options);
  await page.go(`${service.url}/demo?${Math.random()}#token=${service.token}`);
  await until(page, "document.querySelector('#policy table') !== null", 'the page begins');
  return page;
}

const key = async (page, name, code) => {
  for (const type of ['keyDown', 'keyUp']) await page.send('Input.dispatchKeyEvent', { type, key: name, code: name, windowsVirtualKeyCode: code, ...(type === 'keyDown' && name === 'Enter' ? { text: '\r' } : {}) });
};
const focus = (page) => page.ask('document.activeElement.id');

/* By keyboard alone: from the first control to the report that was sent. */
async function byKeyboard(page) {
  for (let i = 0; i < 5 && (await focus(page)) !== 'act'; i++) await key(page, 'Tab', 9);
  assert.equal(await focus(page), 'act');
  await key(page, 'Enter', 13);
  await until(page, "document.activeElement.id === 'like'", 'an offer');
  await key(page, 'Enter', 13);
  await until(page, "document.activeElement.id === 'send'", 'a report');
  const waits = await queued(page);
  assert.equal(waits.length, 1);
  const bytes = Buffer.from(JSON.parse(waits[0].body).report, 'base64url');
  assert.equal(await page.ask("document.getElementById('bytes').textContent.replaceAll(' ', '')"), bytes.toString('hex'), 'the bytes that are shown are those that leave');
  assert.equal(await service.users('cafe'), 0, 'nothing has left');
  await key(page, 'Enter', 13);
  await until(page, "document.getElementById('sent').textContent.includes('taken')", 'it is sent');
  assert.equal(await service.users('cafe'), 1);
  const belief = (name) => page.ask(`parseFloat(document.getElementById('belief-${name}').textContent)`);
  assert.match(await page.ask("document.getElementById('conclusion').textContent"), /^There are 12 possible visits\. /);
  assert.deepEqual([await belief('before'), await belief('most')], [8.3, 40.2]);
  const after = await belief('after');
  assert.ok(after > 1.2 && after <= 40.2, `${after}`); // 1.2: all others are e^2 times as likely
  assert.equal(await page.ask("document.querySelectorAll('#ratios rect').length"), 11);
}

/* The same visit again and again: nothing leaves, and the observer's guess is right no more often than epsilon allows: 40.2 % of
 * 1,000 guesses, 15.5 their standard deviation, 480 five of them above. No belief is above the limit. */
async function repeats(page) {
  const before = page.requests.length;
  await page.ask("document.getElementById('repeat').click()");
  await until(page, "document.querySelector('#spread svg') !== null", 'reports of the same visit');
  const right = Number(/ right (\d+) times\. Without any report it is right 83 times/.exec(await page.ask("document.getElementById('repeated').textContent"))?.[1]);
  assert.ok(right > 20 && right < 480, `right ${right} times`);
  const [, highest, limit] = /between [0-9.]+ % and ([0-9.]+) %; the most that is possible is ([0-9.]+) %/.exec(await page.ask("document.querySelector('#spread desc').textContent"));
  assert.ok(Number(limit) === 40.2 && Number(highest) <= 40.2, `${highest} ${limit}`);
  assert.deepEqual(page.requests.slice(before).filter((r) => !r.includes('/v1/billboard')), [], 'nothing leaves');
}

/* No bar leaves its limits, whatever the noise was. */
async function withinLimits(page) {
  const { bars, limits } = await page.ask(`({ bars: [...document.querySelectorAll('#ratios rect')].map((r) => [r.x.baseVal.value, r.x.baseVal.value + r.width.baseVal.value]), limits: [...document.querySelectorAll('#ratios line.limit')].map((l) => l.x1.baseVal.value) })`);
  assert.ok(bars.flat().every((x) => x >= limits[0] - 0.01 && x <= limits[1] + 0.01), JSON.stringify({ bars, limits }));
}

/* Nothing wider than the window, no letters below 11 pixels, contrast of 4.5 at least (WCAG 2.1), names for all that can be pressed or is drawn. */
async function canBeRead(page, name) {
  const seen = await page.ask(`(() => {
    const light = (c) => { const [r, g, b] = c.match(/[0-9.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
    const poor = new Set();
    for (const e of document.querySelectorAll('main *')) {
      if (e.getClientRects().length === 0 || e.disabled || ['title', 'desc'].includes(e.tagName) || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
      const style = getComputedStyle(e), a = light(e.ownerSVGElement ? style.fill : style.color), b = light(behind(e.ownerSVGElement ?? e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const scale = e.ownerSVGElement ? e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width : 1;
      if (ratio < 4.5 || parseFloat(style.fontSize) * scale < 11) poor.add(e.tagName + ' ' + e.textContent.slice(0, 30) + ' ' + ratio.toFixed(2) + ' ' + (parseFloat(style.fontSize) * scale).toFixed(1));
    }
    const outside = [...document.querySelectorAll('main svg text')].filter((t) => { const r = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect(); return r.left < s.left - 1 || r.right > s.right + 1; }).map((t) => t.textContent);
    return { window: innerWidth, page: document.documentElement.scrollWidth, poor: [...poor], outside, drawn: [...document.querySelectorAll('svg')].every((s) => s.querySelector('title').textContent && s.querySelector('desc').textContent),
      h1: document.querySelectorAll('h1').length, sections: [...document.querySelectorAll('section')].every((s) => document.getElementById(s.getAttribute('aria-labelledby'))), small: [...document.querySelectorAll('main button')].filter((b) => b.getClientRects().length && b.getBoundingClientRect().height < 32).length };
  })()`);
  assert.ok(seen.page <= seen.window, `${name}: too wide: ${seen.page}`);
  assert.deepEqual([seen.poor, seen.outside, seen.drawn, seen.h1, seen.sections, seen.small], [[], [], true, 1, true, 0], name);
  const { nodes } = await page.send('Accessibility.getFullAXTree');
  for (const node of nodes.filter((n) => !n.ignored && ['button', 'radio', 'img', 'link', 'table'].includes(n.role?.value))) assert.ok(node.name?.value, `${name}: a ${node.role.value} without a name`);
}

try {
  const page = await visit({ width: 1400, height: 900 });
  await byKeyboard(page);
  await withinLimits(page);
  await repeats(page);
  assert.equal(await service.users('cafe'), 1);
  // a reload: the device has reported
  await page.go(`${service.url}/demo?again#token=${service.token}`);
  await until(page, "document.querySelector('#policy table') !== null", 'the page begins again');
  await page.ask("document.getElementById('act').click()");
  await until(page, "document.getElementById('sent').textContent.includes('makes no second')", 'no second report');
  assert.equal(await service.users('cafe'), 1);
  // somebody else, and a crowd
  await page.ask("document.getElementById('again').click(); document.getElementById('act').click()");
  await until(page, "!document.getElementById('offer').hidden", 'another offer');
  await page.ask("document.getElementById('dislike').click()");
  await until(page, "!document.getElementById('observer').hidden", 'another report');
  if (process.env.TACIT_PICTURES) await repeats(page);
  await page.ask(`document.querySelector('button.crowd[data-visitors="${process.env.TACIT_PICTURES ? 20000 : 500}"]').click()`);
  await until(page, "document.getElementById('stop').disabled === false", 'they come');
  if (process.env.TACIT_PICTURES) for (let i = 0; i < 600 && !(await page.ask("document.getElementById('stop').disabled")); i++) await rest(500);
  else await until(page, "document.getElementById('stop').disabled", 'they have come');
  assert.ok((await service.users('cafe')) >= 501, 'the service has counted them');
  await canBeRead(page, '1400');
  assert.deepEqual(page.problems, []);
  for (const request of page.requests) {
    const { origin, pathname } = new URL(request);
    assert.ok(origin === service.url && /^\/(demo(\/[a-z-]+\.(js|css|wasm))?|v1\/(billboard|reports|guarantee)|favicon\.ico)$/.test(pathname), `the page asks for ${request}`);
  }
  if (process.env.TACIT_PICTURES) {
    writeFileSync(`${process.env.TACIT_PICTURES}/demo-1400.png`, await page.picture(true));
    // docs/images/demo.png: the visitor's part of the page
    await page.send('Emulation.setDeviceMetricsOverride', { width: 1190, height: 900, deviceScaleFactor: 1, mobile: false });
    const height = await page.ask("document.getElementById('observer').getBoundingClientRect().bottom + scrollY + 14");
    const { data } = await page.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip: { x: 0, y: 0, width: 1190, height, scale: 1 } });
    writeFileSync(`${process.env.TACIT_PICTURES}/demo.png`, Buffer.from(data, 'base64'));
  }
  for (const [width, dark] of [[390, false], [1400, true], [390, true]]) {
    const other = await visit({ width, height: 900, dark }), name = `${width}${dark ? '-dark' : ''}`;
    await other.ask("document.getElementById('again').click(); document.getElementById('act').click()");
    await until(other, "!document.getElementById('offer').hidden", 'an offer');
    await other.ask("document.getElementById('like').click()");
    await until(other, "!document.getElementById('observer').hidden", 'a report');
    await withinLimits(other);
    await repeats(other);
    await canBeRead(other, name);
    assert.deepEqual(other.problems, [], name);
    if (process.env.TACIT_PICTURES) writeFileSync(`${process.env.TACIT_PICTURES}/demo-${name}.png`, await other.picture(true));
  }
} finally {
  await browser.close();
  await service.stop();
}
