/* A browser for tests: the system's Chromium without a window, spoken to by the DevTools protocol over a pipe. Needs
 * node and nothing else. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function open(program) {
  const box = mkdtempSync(join(tmpdir(), 'tacit-browser-'));
  const child = spawn(program, [
    '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
    '--no-first-run', '--disable-extensions', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', '--mute-audio', '--hide-scrollbars', `--user-data-dir=${box}`, 'about:blank',
  ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: box } });
  const [, , , input, output] = child.stdio;
  const waiting = new Map(), listeners = [];
  let next = 1, rest = '', gone = null;
  const end = (why) => {
    gone = new Error(why);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  };
  child.on('error', (e) => end(`${program}: ${e.message}`));
  child.on('exit', (code) => end(`${program} ended with status ${code}`));
  input.on('error', () => {});
  output.setEncoding('utf8');
  output.on('data', (piece) => {
    const parts = (rest + piece).split('\0');
    rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part), call = waiting.get(message.id);
      if (!call) {
        for (const listener of listeners) listener(message);
        continue;
      }
      waiting.delete(message.id);
      if (message.error) call.reject(new Error(`${call.method}: ${message.error.message}`));
      else call.resolve(message.result);
    }
  });
  const send = (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
    if (gone) return reject(gone);
    waiting.set(next, { resolve, reject, method });
    return input.write(JSON.stringify({ id: next++, method, params, sessionId }) + '\0');
  });
  const close = async () => {
    const exited = new Promise((resolve) => { child.once('exit', resolve); });
    if (!gone) await Promise.race([send('Browser.close').catch(() => {}), exited]);
    const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
    if (child.exitCode === null && child.signalCode === null) await exited;
    clearTimeout(timer);
    rmSync(box, { recursive: true, force: true, maxRetries: 5 });
  };
  return { send, close, listen: (f) => listeners.push(f) };
}

/* A tab of this size; `dark` is what the page hears of the reader's wish; without `scripts` none run. `problems` collects
 * what the console would show in red, `requests` every address that the page asks for, and `asked` the same with its method. */
export async function tab(browser, { width = 1400, height = 900, dark = false, scripts = true, downloads = null } = {}) {
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const problems = [], requests = [], asked = [], waits = new Map();
  browser.listen((m) => {
    if (m.sessionId !== sessionId) return;
    if (m.method === 'Runtime.exceptionThrown') problems.push(m.params.exceptionDetails.exception?.description ?? m.params.exceptionDetails.text);
    if (m.method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(m.params.type)) problems.push(m.params.args.map((a) => a.value ?? a.description).join(' '));
    if (m.method === 'Log.entryAdded' && ['error', 'warning'].includes(m.params.entry.level)) problems.push(m.params.entry.text);
    if (m.method === 'Network.requestWillBeSent') {
      requests.push(m.params.request.url);
      asked.push(`${m.params.request.method} ${m.params.request.url}`);
    }
    waits.get(m.method)?.(m.params);
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  await send('Network.emulateNetworkConditions', { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await send('Emulation.setScriptExecutionDisabled', { value: !scripts });
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  if (downloads) await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads, eventsEnabled: true });
  return {
    send, problems, requests, asked,
    event: (name) => new Promise((resolve) => { waits.set(name, resolve); }),
    async go(url) {
      const loaded = this.event('Page.loadEventFired');
      await send('Page.navigate', { url });
      await loaded;
    },
    /* The value of an expression in the page. Works without scripts of the page's own, too. */
    async ask(expression) {
      const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    async mouse(x, y, type = 'mouseMoved', more = {}) {
      await send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' ? 'none' : 'left', clickCount: type === 'mouseMoved' ? 0 : 1, ...more });
    },
    async click(x, y) {
      await this.mouse(x, y);
      await this.mouse(x, y, 'mousePressed');
      await this.mouse(x, y, 'mouseReleased');
    },
    async picture(full = false) {
      const { data } = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: full });
      return Buffer.from(data, 'base64');
    },
    async pdf(params = {}) {
      const { data } = await send('Page.printToPDF', { preferCSSPageSize: true, printBackground: true, ...params });
      return Buffer.from(data, 'base64');
    },
  };
}
