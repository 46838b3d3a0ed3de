/* The report in a real browser, without network: the curves are there and are those of the data, the legend hides them,
 * axes switch, the cursor reads values, zoom goes in and out, drawings are saved and printed, nothing is asked of the
 * network and nothing complains; light and dark, wide and narrow, with scripts and without.
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

/* Distinct colours inside an element, as a count: a plot that was not drawn has one or two. */
async function colours(page, selector) {
  return page.ask(`(() => {
    const canvas = document.querySelector(${JSON.stringify(selector)}), copy = document.createElement('canvas');
    const { width, height } = Object.assign(copy, { width: canvas.width, height: canvas.height });
    const pen = copy.getContext('2d', { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer);
    return new Set(pixels).size;
  })()`);
}
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

async function curves(page) {
  const seen = await page.ask(`(() => {
    const f = document.querySelector('#figure1'), data = JSON.parse(document.getElementById('data').textContent);
    return { agents: data.worlds[0].agents.length, items: f.querySelectorAll('.legend button').length, series: f.plot.series.length,
      last: f.plot.data[1].at(-1), mean: data.worlds[0].agents[0].mean.at(-1), live: f.querySelector('.live canvas') !== null,
      still: getComputedStyle(f.querySelector('.still')).display };
  })()`);
  check(seen.live && seen.still === 'none', 'the live plot stands in the place of the drawing');
  check(seen.agents > 4 && seen.items === seen.agents && seen.series === 1 + 3 * seen.agents, `a line, a band and a legend entry for each agent: ${JSON.stringify(seen)}`);
  check(seen.last === seen.mean, 'the line ends where the data end');
  check(await colours(page, '#figure1 canvas') > 20, 'the curves are drawn');
  check(await colours(page, '#figure2 canvas') > 5, 'the price of privacy is drawn');
}

async function legend(page) {
  const before = await colours(page, '#figure1 canvas');
  await press(page, '#figure1 .legend button');
  const hidden = await page.ask(`(() => {
    const f = document.querySelector('#figure1'), b = f.querySelector('.legend button');
    return [f.plot.series[1].show, f.plot.series[2].show, b.getAttribute('aria-pressed'), f.querySelector('.still [data-series="0"]').style.display];
  })()`);
  check(hidden.join() === 'false,false,false,none', `a click in the legend hides line, band and drawing: ${hidden}`);
  check(await colours(page, '#figure1 canvas') !== before, 'the picture changes with it');
  await page.ask(`document.querySelector('#figure1 .legend button').focus()`);
  await page.send('Input.dispatchKeyEvent', { type: 'keyDown', key: ' ', code: 'Space', text: ' ', windowsVirtualKeyCode: 32 });
  await page.send('Input.dispatchKeyEvent', { type: 'keyUp', key: ' ', code: 'Space', windowsVirtualKeyCode: 32 });
  await settle(page);
  check(await page.ask(`document.querySelector('#figure1').plot.series[1].show`), 'the keyboard brings it back');
}

async function scales(page) {
  for (const scale of ['linear', 'log', 'linear']) {
    await press(page, `#figure1 [data-axis="y"][data-scale="${scale}"]`);
    const got = await page.ask(`(() => {
      const f = document.querySelector('#figure1'), u = f.plot, middle = u.posToVal(u.over.clientHeight / 2, 'y');
      return { distr: u.scales.y.distr, middle, min: u.scales.y.min, max: u.scales.y.max, shown: f.querySelector('.still').dataset.shown,
        pressed: f.querySelector('[data-axis="y"][aria-pressed="true"]').dataset.scale };
    })()`);
    const wanted = scale === 'log' ? Math.sqrt(got.min * got.max) : (got.min + got.max) / 2;
    check(Math.abs(got.middle - wanted) < 0.02 * got.max && got.shown === scale && got.pressed === scale, `the ${scale} axis is ${scale}: ${JSON.stringify(got)}`);
  }
  await press(page, '#figure1 [data-axis="x"][data-scale="log"]');
  check(await page.ask(`document.querySelector('#figure1').plot.scales.x.distr`) === 3, 'users can be logarithmic too');
  await press(page, '#figure1 [data-axis="x"][data-scale="linear"]');
}

async function hover(page) {
  const end = await values(page, '#figure1'), b = await box(page, '#figure1 .u-over');
  await page.mouse(b.x + b.width * 0.3, b.y + b.height / 2);
  await settle(page);
  const seen = await page.ask(`(() => {
    const f = document.querySelector('#figure1'), u = f.plot;
    return { where: f.querySelector('.legend .where').textContent, at: u.data[0][u.cursor.idx], value: u.data[1][u.cursor.idx], episodes: u.data[0].at(-1) };
  })()`);
  const now = await values(page, '#figure1');
  check(Math.abs(seen.at / seen.episodes - 0.3) < 0.02 && seen.where.includes(seen.at.toLocaleString('en')), `the legend says where the cursor is: ${JSON.stringify(seen)}`);
  check(Math.abs(Number(now[0].replaceAll(',', '')) - seen.value) <= 0.001 * seen.value + 0.5, `and what is there: ${now[0]} for ${seen.value}`);
  await page.mouse(2, 2);
  await settle(page);
  check((await values(page, '#figure1')).join() === end.join(), 'without the cursor it tells the end');
  const p = await box(page, '#figure2 .u-over');
  await page.mouse(p.x + 1, p.y + p.height / 2);
  await settle(page);
  check(/ε = /.test(await page.ask(`document.querySelector('#figure2 .legend .where').textContent`)), 'the price of privacy tells its ε');
  await page.mouse(2, 2);
}

async function zoom(page) {
  const b = await box(page, '#figure1 .u-over'), y = b.y + b.height / 2;
  await page.mouse(b.x + b.width * 0.4, y);
  await page.mouse(b.x + b.width * 0.4, y, 'mousePressed');
  await page.mouse(b.x + b.width * 0.5, y, 'mouseMoved', { button: 'left', buttons: 1 });
  await page.mouse(b.x + b.width * 0.6, y, 'mouseMoved', { button: 'left', buttons: 1 });
  await page.mouse(b.x + b.width * 0.6, y, 'mouseReleased');
  await settle(page);
  const part = await page.ask(`(() => { const u = document.querySelector('#figure1').plot; return (u.scales.x.max - u.scales.x.min) / u.data[0].at(-1); })()`);
  check(Math.abs(part - 0.2) < 0.03, `dragging zooms: ${part} of the users are seen`);
  await press(page, '#figure1 [data-reset]');
  const all = await page.ask(`(() => { const u = document.querySelector('#figure1').plot; return (u.scales.x.max - u.scales.x.min) / u.data[0].at(-1); })()`);
  check(all > 0.99 && await page.ask(`document.querySelector('#figure1 [data-reset]').hidden`), 'and a button leads back');
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
  check(pages(alone) === 1 && Math.abs(Number(size[1]) - 760 * 0.75) < 3, `a figure alone is a sheet of its own size: ${pages(alone)}, ${size?.[1]} x ${size?.[2]}`);
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
  for (const part of [structure, curves, legend, scales, hover, zoom]) await part(wide);
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
    check(await colours(page, '#figure1 canvas') > 20, `${name}: the curves are drawn`);
    pages.push(page);
  }
  for (const [name, target, options] of [['without scripts', url, { scripts: false }], ['static', pathToFileURL(still).href, {}]]) {
    const page = await tab(browser, options);
    await page.go(target);
    await fits(page, name);
    const shown = await page.ask(`[...document.querySelectorAll('.still svg')].filter((s) => s.getBoundingClientRect().height > 100).length`);
    check(shown === 2, `${name}: both figures are drawings, each once: ${shown}`);
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
