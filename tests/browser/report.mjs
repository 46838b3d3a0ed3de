/* The report in a real browser, without network: the curves are there, the legend hides them, the scale switches, the
 * cursor reads the values of the data, drawings are saved and printed, a table on a telephone needs no scrolling, nothing
 * is asked of the network and nothing complains; light and dark, wide and narrow, with scripts and without.
 *
 *   node report.mjs CHROMIUM REPORT.html STATIC.html     exit status 0, or 1 with a line for each thing that is wrong */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { open, tab } from './chromium.mjs';

const [program, report, still] = process.argv.slice(2);
let wrong = 0, right = 0;
const check = (holds, what) => {
  if (holds) right++;
  else {
    wrong++;
    console.log(`wrong: ${what}`);
  }
};
const settle = (page) => page.ask('new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))');
const url = pathToFileURL(report).href;

async function box(page, selector) {
  return page.ask(`(() => {
    const e = document.querySelector(${JSON.stringify(selector)});
    e.scrollIntoView({ block: 'center' });
    const { x, y, width, height } = e.getBoundingClientRect();
    return { x, y, width, height };
  })()`);
}
async function press(page, selector) {
  const b = await box(page, selector);
  await page.click(b.x + b.width / 2, b.y + b.height / 2);
  await settle(page);
}
const values = (page, figure) => page.ask(`[...document.querySelectorAll('${figure} .legend .value')].map((v) => v.textContent)`);

/* The drawings that can be seen, as "figure1 broad log". */
const shown = (page) => page.ask(`[...document.querySelectorAll('.still > svg')].filter((s) => s.getBoundingClientRect().height > 100)
  .map((s) => s.closest('figure').id + ' ' + s.getAttribute('class').replace('plot ', ''))`);
const strokes = (page, figure) => page.ask(`(() => {
  const s = [...document.querySelectorAll('${figure} .still > svg')].find((e) => e.getBoundingClientRect().height > 100);
  return [...new Set([...s.querySelectorAll('path.c')].map((p) => getComputedStyle(p).stroke + ' ' + getComputedStyle(p).strokeDasharray))];
})()`);

async function curves(page) {
  const seen = await page.ask(`(() => {
    const f = document.querySelector('#figure1'), data = JSON.parse(document.getElementById('data').textContent);
    const s = f.querySelector('svg.broad.linear'), items = f.querySelectorAll('.legend button').length;
    const named = new Set([...s.querySelectorAll('[data-series] > text')].map((t) => t.parentElement.dataset.series));
    return { agents: data.worlds[0].agents.length, items, named: named.size, swatch: f.querySelector('.legend svg').getBoundingClientRect().width };
  })()`);
  check(seen.agents > 4 && seen.items === seen.agents && seen.named === seen.agents && seen.swatch > 20, `a line, a label and a legend entry for each agent: ${JSON.stringify(seen)}`);
  const looks = await strokes(page, '#figure1');
  check(looks.length >= seen.agents && looks.every((l) => /^(rgb|color)/.test(l)), `each has a look of its own: ${looks}`);
  const prices = await values(page, '#figure2');
  check(prices.length > 1 && prices.every((v) => /[0-9]/.test(v)), `every entry of the price of privacy has its values: ${prices}`);
  const dots = await page.ask(`[...new Set([...document.querySelectorAll('.swatch')].map((d) => getComputedStyle(d).backgroundColor))]`);
  check(dots.length > 3, `dots of one family differ as its lines do: ${dots}`);
}

async function legend(page) {
  await press(page, '#figure1 .legend button');
  const state = `(() => {
    const f = document.querySelector('#figure1'), b = f.querySelector('.legend button');
    const all = [...f.querySelectorAll('.still [data-series="0"]')];
    return [b.getAttribute('aria-pressed'), all.length > 3, ...new Set(all.map((g) => getComputedStyle(g).display))].join();
  })()`;
  check(await page.ask(state) === 'false,true,none', `a click in the legend hides line, band and label: ${await page.ask(state)}`);
  await page.ask(`document.querySelector('#figure1 .legend button').focus()`);
  await page.send('Input.dispatchKeyEvent', { type: 'keyDown', key: ' ', code: 'Space', text: ' ', windowsVirtualKeyCode: 32 });
  await page.send('Input.dispatchKeyEvent', { type: 'keyUp', key: ' ', code: 'Space', windowsVirtualKeyCode: 32 });
  await settle(page);
  check(await page.ask(state) === 'true,true,inline', `the keyboard brings it back: ${await page.ask(state)}`);
}

async function scales(page) {
  for (const scale of ['linear', 'log', 'linear']) {
    await press(page, `#figure1 [data-axis="y"][data-scale="${scale}"]`);
    const pressed = await page.ask(`document.querySelector('#figure1 [data-axis][aria-pressed="true"]').dataset.scale`);
    const now = await shown(page);
    check(pressed === scale && now.join() === `figure1 broad ${scale},figure2 broad log`, `the ${scale} axis is ${scale}: ${now}`);
  }
}

async function hover(page) {
  const end = await values(page, '#figure1'), b = await box(page, '#figure1 svg.broad.linear .frame .axes');
  const frame = await page.ask(`(() => {
    const s = document.querySelector('#figure1 svg.broad.linear'), g = s.querySelector('.frame'), m = s.getScreenCTM();
    const [left, right] = g.dataset.across.split(' ').map(Number), [top, bottom] = g.dataset.down.split(' ').map(Number);
    return { x: m.e + m.a * (left + 0.3 * (right - left)), y: m.f + m.d * (top + bottom) / 2 };
  })()`);
  check(b.width > 100, 'the axes are there');
  await page.mouse(frame.x, frame.y);
  await settle(page);
  const seen = await page.ask(`(() => {
    const f = document.querySelector('#figure1'), data = JSON.parse(document.getElementById('data').textContent);
    const where = f.querySelector('.legend .where').textContent, at = Number(where.match(/after ([0-9,]+)/)[1].replaceAll(',', ''));
    return { where, at, episodes: data.episodes, value: data.worlds[0].agents[0].mean[data.at.indexOf(at)], lines: f.querySelectorAll('.cursor').length };
  })()`);
  const now = await values(page, '#figure1');
  check(Math.abs(seen.at / seen.episodes - 0.3) < 0.02 && seen.lines > 0, `the legend says where the cursor is: ${JSON.stringify(seen)}`);
  check(Math.abs(Number(now[0].replaceAll(',', '')) - seen.value) <= 0.001 * seen.value + 0.5, `and what is there: ${now[0]} for ${seen.value}`);
  await page.mouse(2, 2);
  await settle(page);
  check((await values(page, '#figure1')).join() === end.join(), 'without the cursor it tells the end');
  check(await page.ask(`document.querySelectorAll('.cursor').length`) === 0, 'and the line is gone');
  const p = await box(page, '#figure2 svg.broad circle');
  await page.mouse(p.x + p.width / 2, p.y + p.height / 2);
  await settle(page);
  check(/ε = /.test(await page.ask(`document.querySelector('#figure2 .legend .where').textContent`)), 'the price of privacy tells its ε');
  await page.mouse(2, 2);
}

async function help(page) {
  const seen = await page.ask(`(() => ({
    columns: [...document.querySelectorAll('.results thead abbr')].filter((a) => a.title.length > 20 && a.tabIndex === 0).map((a) => a.textContent),
    axis: [...document.querySelectorAll('#figure2 svg.broad text > title')].map((t) => t.textContent).join(' ') }))()`);
  check(['late', 'switches', 'regret'].every((c) => seen.columns.includes(c)) && /epsilon that/.test(seen.axis), `columns and claims explain themselves: ${JSON.stringify(seen)}`);
}

async function saving(page, downloads) {
  await press(page, '#figure1 .legend button:nth-of-type(2)');
  await press(page, '#figure1 [data-svg]');
  let files = [];
  for (let i = 0; i < 100 && !files.some((f) => f.endsWith('.svg')); i++) {
    await new Promise((r) => { setTimeout(r, 50); });
    files = readdirSync(downloads);
  }
  check(files.includes('figure1.svg'), `the drawing is saved: ${files}`);
  if (files.includes('figure1.svg')) {
    const text = readFileSync(join(downloads, 'figure1.svg'), 'utf8');
    const got = await page.ask(`(() => {
      const d = new DOMParser().parseFromString(${JSON.stringify(text)}, 'image/svg+xml');
      return [d.querySelector('parsererror') === null, d.documentElement.localName, d.querySelectorAll('path').length > 8, d.querySelector('[data-series="1"]') === null, d.querySelector('[data-series="0"]') !== null];
    })()`);
    check(got.join() === 'true,svg,true,true,true', `it is well-formed, and has the curves that are shown: ${got}`);
    check(!/url\(|href=|<style|<script/.test(text), 'it needs nothing else');
  }
  await press(page, '#figure1 .legend button:nth-of-type(2)');
}

async function printing(page) {
  const pages = (pdf) => (pdf.toString('latin1').match(/\/Type ?\/Page\b(?!s)/g) ?? []).length;
  const pdf = await page.pdf();
  check(pdf.subarray(0, 5).toString() === '%PDF-' && pages(pdf) >= 4, `the page prints: ${pages(pdf)} sheets`);
  await page.ask('window.print = () => {}; true');
  await press(page, '#figure1 [data-pdf]');
  const alone = await page.pdf();
  const size = /\/MediaBox ?\[ ?0 0 ([0-9.]+) ([0-9.]+)/.exec(alone.toString('latin1'));
  check(pages(alone) === 1 && Math.abs(Number(size[1]) - 912 * 0.75) < 3, `a figure alone is a sheet of its own size: ${pages(alone)}, ${size?.[1]} x ${size?.[2]}`);
  await page.ask(`dispatchEvent(new Event('afterprint')); true`);
  check(await page.ask('document.body.dataset.only === undefined'), 'and afterwards everything is back');
}

/* The page fits: nothing wider than the window, text of at least 11 pixels, a picture that is not empty. */
async function fits(page, name) {
  const seen = await page.ask(`(() => {
    const small = [...document.querySelectorAll('p, td, th, figcaption, li, button')].filter((e) => e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 11).length;
    return { window: innerWidth, page: document.documentElement.scrollWidth, small };
  })()`);
  check(seen.page <= seen.window && seen.small === 0, `${name}: nothing is too wide or too small: ${JSON.stringify(seen)}`);
  const picture = await page.picture();
  check(picture.length > 15000, `${name}: the screen is not empty: ${picture.length} bytes`);
}

/* Text against its background by the formula of WCAG 2.1, 4.5 at least. */
async function contrast(page, name) {
  const poor = await page.ask(`(() => {
    const light = (c) => { const [r, g, b] = c.match(/[0-9.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
    const out = new Set();
    for (const e of document.querySelectorAll('main *')) {
      if (!e.offsetParent || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
      const a = light(getComputedStyle(e).color), b = light(behind(e));
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) out.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
    }
    return [...out];
  })()`);
  check(poor.length === 0, `${name}: text can be read: ${poor}`);
}

async function structure(page) {
  const seen = await page.ask(`(() => ({
    lang: document.documentElement.lang, h1: document.querySelectorAll('h1').length, title: document.title,
    tables: [...document.querySelectorAll('table')].every((t) => t.querySelector('th[scope="row"]')),
    captions: [...document.querySelectorAll('figure')].every((f) => f.querySelector('figcaption')),
    drawings: [...document.querySelectorAll('svg[role="img"]')].every((s) => s.querySelector('title')),
    nameless: [...document.querySelectorAll('button')].filter((b) => !b.textContent.trim()).length,
    broken: [...document.querySelectorAll('a[href^="#"]')].filter((a) => !document.querySelector(a.getAttribute('href'))).length,
    images: document.querySelectorAll('img, link, iframe').length, alerts: typeof window.hacked }))()`);
  check(seen.lang === 'en' && seen.h1 === 1 && seen.tables && seen.captions && seen.drawings && seen.nameless === 0 && seen.broken === 0, `the page can be heard and not only seen: ${JSON.stringify(seen)}`);
  check(seen.images === 0 && seen.alerts === 'undefined', `nothing in a label has become an element or run: ${JSON.stringify(seen)}`);
}

const downloads = mkdtempSync(join(tmpdir(), 'tacit-report-'));
const browser = await open(program);
try {
  const wide = await tab(browser, { downloads });
  await wide.go(url);
  await settle(wide);
  for (const part of [structure, curves, legend, scales, hover, help]) await part(wide);
  await fits(wide, 'wide');
  await contrast(wide, 'light');
  await saving(wide, downloads);
  await printing(wide);
  const pages = [wide];
  for (const [name, options] of Object.entries({ dark: { dark: true }, narrow: { width: 390, height: 844 }, 'narrow and dark': { width: 360, height: 740, dark: true } })) {
    const page = await tab(browser, options);
    await page.go(url);
    await settle(page);
    await fits(page, name);
    await contrast(page, name);
    const kind = options.width ? 'slim' : 'broad';
    check((await shown(page)).every((d) => d.includes(kind)), `${name}: the drawings are ${kind}: ${await shown(page)}`);
    check((await strokes(page, '#figure1')).length > 5, `${name}: the curves have their colors`);
    if (options.width) {
      const listed = `getComputedStyle(document.querySelector('#figure1 .legend')).display`;
      check(await page.ask(listed) === 'none', `${name}: the list of curves waits`);
      await press(page, '#figure1 [data-curves]');
      check(await page.ask(listed) === 'grid', `${name}: and comes on request`);
      await press(page, '#figure1 [data-curves]');
    }
    if (options.width) check(await page.ask(`[...document.querySelectorAll('.wide')].every((w) => !w.querySelector('.results') || w.scrollWidth <= w.clientWidth)`), `${name}: results need no scrolling`);
    pages.push(page);
  }
  for (const [name, target, options] of [['without scripts', url, { scripts: false }], ['static', pathToFileURL(still).href, {}]]) {
    const page = await tab(browser, options);
    await page.go(target);
    await fits(page, name);
    check((await shown(page)).length === 2, `${name}: both figures are there, each once: ${await shown(page)}`);
    check(await page.ask(`[...document.querySelectorAll('button')].every((b) => !b.offsetParent)`), `${name}: no button that does nothing`);
    pages.push(page);
  }
  const problems = pages.flatMap((p) => p.problems), asked = pages.flatMap((p) => p.requests).filter((r) => !/^(file|blob):/.test(r));
  check(problems.length === 0, `the console is silent: ${problems}`);
  check(asked.length === 0, `nothing is asked of the network: ${asked}`);
} catch (e) {
  check(false, e.stack);
} finally {
  await browser.close();
  rmSync(downloads, { recursive: true, force: true });
}
console.log(`${right} right, ${wrong} wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
