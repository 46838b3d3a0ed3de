/* The package as a site gets it, by docs/how-to/browser.md: packed by npm, installed into an empty directory, and used by the
 * document's own page, service file, token and program: packed.mjs BUILD CHROMIUM. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../browser/chromium.mjs';
import { build, command, here, online, pages, playPage, queued, serve } from './stage.mjs';

const site = mkdtempSync(join(tmpdir(), 'tacit-site-'));
process.on('exit', () => rmSync(site, { recursive: true, force: true }));
const guide = readFileSync(join(here, '../../docs/how-to/browser.md'), 'utf8');

/* The document's block in this language that has these words. */
function block(language, words) {
  const found = [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, kind, text]) => kind === language && text.includes(words));
  assert.equal(found.length, 1, `docs/how-to/browser.md has ${found.length} blocks of ${language} with '${words}'`);
  return found[0][2];
}

/* Replaces words of the document, which must be there. */
function put(text, from, to) {
  assert.ok(text.includes(from), `docs/how-to/browser.md: '${from}' is missing`);
  return text.replace(from, to);
}

function inSite(program, ...args) {
  const ran = spawnSync(program, args, { cwd: site, encoding: 'utf8' });
  assert.equal(ran.status, 0, `${program} ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

/* --- npm pack, npm install ----------------------------------------------------------------------------------------------- */

command('npm', 'pack', '--silent', '--pack-destination', site, join(build, 'wasm'));
const [tarball] = readdirSync(site);
assert.ok(guide.includes(`npm install ./${tarball}`), `${tarball} is not the tarball that the document names`);
inSite('npm', 'install', '--offline', '--no-audit', '--no-fund', '--silent', '--prefix', site, `./${tarball}`);
assert.deepEqual(readdirSync(join(site, 'node_modules')).filter((name) => !name.startsWith('.')), ['tacit-client'], 'no dependencies');
const installed = join(site, 'node_modules/tacit-client'), manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
assert.equal(manifest.dependencies, undefined);
assert.equal(manifest.scripts, undefined, 'nothing runs when it is installed');
for (const [file, words] of [['LICENSE', 'Apache License'], ['LICENSE.libsodium', 'ISC License'], ['LICENSE.wasi-libc', 'wasi-libc'], ['LICENSE.wasi-libc', 'musl'], ['LICENSE.compiler-rt', 'LLVM']])
  assert.ok(readFileSync(join(installed, file), 'utf8').includes(words), `${file} does not speak of ${words}`);
console.log(`${tarball}: ${readdirSync(installed).join(' ')}`);

/* --- TypeScript ---------------------------------------------------------------------------------------------------------- */

const tsc = join(here, '../../web/node_modules/typescript/bin/tsc');
if (existsSync(tsc)) {
  writeFileSync(join(site, 'use.ts'), readFileSync(join(here, 'types.txt')));
  inSite(process.execPath, tsc, '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--lib', 'es2022,dom', '--module', 'nodenext', 'use.ts');
  console.log('types checked');
} else {
  console.log('types not checked: npm could not fetch TypeScript (scripts/setup)');
}

/* --- The page, in a window and in a worker, and node --------------------------------------------------------------------- */

let service = null, policy = '';
const answers = {};
const web = await pages(() => policy, answers, { '/': site });
const browser = await open(process.argv[3]);
try {
  const [, limits] = /tacit token create service\.yaml --name page --scopes report (.*) >page\.token/.exec(block('sh', 'tacit token create')) ?? assert.fail('the document makes a token');
  service = await serve(`listen: 127.0.0.1:0\n${put(block('yaml', 'origins:'), 'https://shop.example', web.origin)}`, [], 'report', limits.split(' '));
  const written = block('html', 'Client.open');
  assert.ok(written.trimEnd().split('\n').length <= 15, 'a page in fifteen lines');
  const page = put(put(written, 'https://decide.example', service.url), "'…'", `'${service.token}'`);
  writeFileSync(join(site, 'index.html'), page);
  const [, script] = /<script type="module">(.*?)<\/script>/s.exec(page);
  policy = `${put(block('text', 'default-src'), 'https://decide.example', service.url).trim()}; worker-src 'self'`;
  const hash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  policy = put(policy, "script-src 'self'", `script-src 'self' ${hash}`);
  assert.ok(!/unsafe-inline|'unsafe-eval'|\*/.test(policy), policy);

  const visitor = await online(browser), settled = async (truth, what) => {
    for (const end = Date.now() + 30000; Date.now() < end; await new Promise((resolve) => { setTimeout(resolve, 20); })) if (await truth()) return;
    throw new Error(`${what}: ${visitor.problems.join('\n')}`);
  };
  const press = async (id) => {
    await settled(() => visitor.ask("document.getElementById('offer')?.textContent !== '' && document.getElementById('leave').onclick !== null"), 'an offer');
    const [x, y] = await visitor.ask(`(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.getElementById('${id}').getBoundingClientRect())`);
    await visitor.click(x, y);
  };
  for (const [again, id] of [[0, 'take'], [1, 'leave'], [2, 'take']]) {
    await visitor.go(`${web.origin}/index.html?${again}`);
    await press(id);
    await settled(async () => (await service.users('offers')) === 1 && (await queued(visitor)).length === 0, 'one report');
  }
  await visitor.ask('new Promise((resolve) => { setTimeout(resolve, 300); })');
  assert.equal(await service.users('offers'), 1, 'however often the page is loaded');
  assert.deepEqual(visitor.problems.filter((p) => !p.includes('favicon') && !p.includes('404')), []);
  assert.equal(visitor.asked.filter((a) => a === `POST ${service.url}/v1/reports`).length, 1, visitor.asked.join('\n'));

  // in a worker, from the installed package
  writeFileSync(join(site, 'worker.mjs'), `${script.replace('/node_modules/', './node_modules/').split('\n').filter((line) => /import|const/.test(line) && !/document/.test(line)).join('\n')}
    await client.report({ states: [state], actions: [action], rewards: [1] });
    postMessage(await client.send());`.replace('token })', "token, person: 'worker' })"));
  writeFileSync(join(site, 'page.html'), '<!DOCTYPE html><meta charset="utf-8"><title>worker</title><p id="outcome">running</p><script type="module" src="/start.mjs"></script>');
  writeFileSync(join(site, 'start.mjs'), `new Worker('/worker.mjs', { type: 'module' }).onmessage = ({ data }) => { document.getElementById('outcome').textContent = JSON.stringify({ done: data }); };`);
  assert.deepEqual((await playPage(visitor, `${web.origin}/page.html`)).sent.map((s) => s.status), ['taken']);

  // in node, by its name
  const program = put(block('js', 'tacit-client/node'), "'/var/lib/my-device'", "'kept'");
  writeFileSync(join(site, 'device.mjs'), `const url = '${service.url}/v1/billboard?learner=offers', token = '${service.token}';
${program.replace(/^import .*$/gm, '')}
if (client.facts.left > 0) await client.report({ states: [1], actions: [client.act({ state: 1 }).action], rewards: [1] });
console.log(JSON.stringify((await client.send()).sent.map((s) => s.status)));`.replace(/^/, `${program.match(/^import .*$/gm).join('\n')}\n`));
  assert.equal(inSite(process.execPath, 'device.mjs'), '["taken"]\n');
  assert.equal(inSite(process.execPath, 'device.mjs'), '[]\n', 'the next process of this device has nothing to report');
  assert.equal(await service.users('offers'), 3);
  console.log('reports of a page, a worker and node');
} finally {
  await browser.close();
  await service?.stop();
  await web.close();
}
