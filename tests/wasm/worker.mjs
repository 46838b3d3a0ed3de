/* In a worker: the package there, with the page's storage. */
import { Client } from '/package/client.js';

try {
  const { service, token } = await (await fetch('/env.json')).json();
  const device = await Client.open(`${service.url}/v1/billboard?learner=shared`, { epsilon: 2, delta: 1e-5, token, person: 'worker' });
  const { perSituation } = device.facts, features = Array.from({ length: perSituation }, (_, i) => i / 20);
  const { action } = device.act({ features });
  await device.report({ features, actions: [action], rewards: [1] });
  postMessage(await device.send());
} catch (e) {
  postMessage({ problem: `${e.message}\n${e.stack}` });
}
