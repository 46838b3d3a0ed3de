/* What a person waits for in Chromium, for the local learners of examples/service: bench.mjs BUILD CHROMIUM. Every run is a
 * page loaded anew, in which the module is compiled, a client opened and its one report made. JSON lines, milliseconds: median
 * and minimum of the runs. On a machine that does other things as well, the minimum is the figure. TACIT_RUNS says how many. */
import { cpus } from 'node:os';
import { open } from '../browser/chromium.mjs';
import { exampleServices, online, pages, playPage } from './stage.mjs';

const LEARNERS = [['service.yaml', 'river-local'], ['service.yaml', 'upkeep'], ['returning.yaml', 'diary']], RUNS = Number(process.env.TACIT_RUNS ?? 25);
const files = [...new Set(LEARNERS.map(([file]) => file))], services = await exampleServices(files);
let env = null;
const web = await pages(() => "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'", { '/env.json': async () => JSON.stringify(env) });
const browser = await open(process.argv[3]);
const rounded = (x) => Number(x.toFixed(3));
try {
  const page = await online(browser), { product } = await browser.send('Browser.getVersion');
  for (const [file, learner] of LEARNERS) {
    const billboard = await (await fetch(`${services[files.indexOf(file)].url}/v1/billboard?learner=${learner}`)).text(), runs = [];
    env = { billboard, n: 200 };
    for (let i = 0; i < RUNS; i++) runs.push(await playPage(page, `${web.origin}/tests/page.html?${learner}-${i}#measure`));
    const figures = Object.fromEntries(Object.keys(runs[0]).map((name) => {
      const sorted = runs.map((run) => run[name]).sort((a, b) => a - b);
      return [`${name}_ms`, { median: rounded(sorted[RUNS >> 1]), min: rounded(sorted[0]) }];
    }));
    console.log(JSON.stringify({ bench: 'browser', learner, runs: RUNS, billboard_bytes: billboard.length, ...figures, browser: product, cpu: cpus()[0].model }));
  }
} finally {
  await browser.close();
  await Promise.all(services.map((service) => service.stop()));
  await web.close();
}
