/* See run.sh. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '../../web/node_modules/@seriousme/openapi-schema-validator/index.js';
import { Client } from './client.mjs';

const [, , program, box, url] = process.argv;
const text = readFileSync(join(box, 'openapi.json'), 'utf8');
const tokens = Object.fromEntries(['decide', 'observe', 'report', 'read', 'admin'].map((s) => [s, readFileSync(join(box, s), 'utf8').trim()]));
const document = JSON.parse(text);
const client = new Client(document, url, tokens);
const key = () => randomBytes(16).toString('hex');
const code = async (wanted, promise) => assert.equal((await promise).body?.error?.code, wanted);
const context = Array(15).fill(0.2);

async function isOpenapi() {
  const validator = new Validator(), result = await validator.validate(JSON.parse(text));
  assert.ok(result.valid, JSON.stringify(result.errors));
  assert.equal(validator.version, '3.1');
  assert.ok(!(await new Validator().validate({ ...JSON.parse(text), paths: { x: {} } })).valid, 'the validator looks');
  const names = [...client.operations.keys()];
  assert.equal(new Set(names).size, Object.values(document.paths).flatMap((p) => Object.keys(p)).length, 'every operation has a name of its own');
}

/* A document with one field less does not allow what the service answers: the check is one. */
async function missesWhatIsNotWritten() {
  for (const [shape, field, name, known] of [['Decision', 'probability', 'decideOnce', { learner: 'offers', state: 0 }], ['Learner', 'left', 'listLearners', {}],
    ['Space', 'horizon', 'getGuarantee', { learner: 'walk' }], ['Problem', 'message', 'getLedger', { learner: 'nobody' }]]) {
    const less = JSON.parse(text), s = less.components.schemas[shape];
    assert.ok(delete s.properties[field]);
    s.required = s.required.filter((r) => r !== field);
    await assert.rejects(new Client(less, url, tokens).call(name, known), /must NOT have additional properties/);
  }
}

// The pages of the demonstration are there only in a service that is asked for them (wasm.demo).
const isShown = (o) => o.path !== '/demo' && o.path !== '/demo/{id}';

async function readsEverything() {
  for (const learner of ['walk', 'offers', 'banner', 'doses', 'phone', 'exact'])
    for (const o of client.operations.values())
      if (o.method === 'GET' && isShown(o)) assert.equal((await client.call(o.operationId, { learner })).status, 200);
  assert.equal((await client.call('getBillboard', { learner: 'walk', 'If-None-Match': '*' })).status, 304);
}

async function walks() {
  const { body: { episode: id } } = await client.call('openEpisode', { learner: 'walk', user: 'one', 'Idempotency-Key': key() });
  for (let step = 0; step < 4; step++) {
    const { body } = await client.call('decide', { id, state: step, step });
    const { body: told } = await client.call('observe', { id, decision: body.decision, reward: 0.5, next_state: step + 1 });
    assert.equal(told.status, step < 3 ? 'open' : 'finished');
    if (step === 0) await code('contradiction', client.call('observe', { id, decision: body.decision, reward: 0.25 }));
  }
  await code('finished', client.call('decide', { id, state: 0 }));
}

async function decidesOnce() {
  for (const known of [{ learner: 'offers', state: 7.5 }, { learner: 'banner', context }, { learner: 'exact', state: 1, user: 'two' }]) {
    const { body } = await client.call('decideOnce', { ...known, 'Idempotency-Key': key() });
    assert.equal(body.outside, known.state === 7.5 ? true : undefined);
    for (let i = 0; i < 2; i++) // the second time it is the same observation
      assert.equal((await client.call('observeOnce', { decision: body.decision, reward: known.state === 7.5 ? 2 : 1 })).body.status, 'finished');
  }
  const { body: { decision } } = await client.call('decideOnce', { learner: 'exact', state: 0 });
  await client.call('observeOnce', { decision, reward: 1 });
  const late = await client.call('decideOnce', { learner: 'exact', state: 0 });
  assert.equal((await client.call('observeOnce', { decision: late.body.decision, reward: 1 })).body.status, 'full');
}

/* Arrays, where the document has them: each element is answered as a request of its own. */
async function batches() {
  const { body } = await client.call('decideOnce', { 'Idempotency-Key': key() }, { batch: [{ learner: 'offers', state: 1 }, { learner: 'banner', context }, { learner: 'nobody', state: 0 }, { learner: 'doses', context: { age: 41, country: 'DE' } }] });
  assert.deepEqual(body.map((one) => one.status), [200, 200, 404, 200]);
  assert.ok(['low', 'medium', 'high'].includes(body[3].body.action));
  const told = await client.call('observeOnce', {}, { batch: [{ decision: body[0].body.decision, reward: 1 }, { decision: 'nothing', reward: 1 }, { decision: body[3].body.decision, reward: 0 }] });
  assert.deepEqual(told.body.map((one) => one.status), [200, 422, 200]);
}

/* Bytes, where the document takes them. */
async function bytes() {
  const media = 'application/octet-stream', body = Buffer.from(new Float64Array(context).buffer);
  for (const o of client.operations.values()) {
    if (!o.requestBody?.content[media]) continue;
    const { body: { episode: id } } = await client.call('openEpisode', { learner: 'banner' });
    assert.equal((await client.call(o.operationId, { id, learner: 'banner', 'Tacit-User': 'three' }, { media, body })).status, 200);
    await code('out_of_range', client.call(o.operationId, { id, learner: 'banner' }, { media, body: body.subarray(3) }));
  }
}

/* Whatever the operation: nobody may, or not with this token, or not so. */
async function isRefused() {
  for (const o of client.operations.values()) {
    const right = { learner: o.operationId === 'report' ? 'phone' : 'offers', state: 0, id: 'nothing', 'Idempotency-Key': key() };
    const name = o.operationId, scope = o.security[0]?.token[0];
    if (scope) {
      await code('token', client.call(name, right, { token: null }));
      await code('scope', client.call(name, right, { token: tokens[scope === 'read' ? 'decide' : 'read'] }));
    }
    if ((o.parameters ?? []).some((p) => p.name === 'learner')) await code('no_learner', client.call(name, { learner: 'nobody' }));
    if (!o.requestBody) continue;
    assert.equal((await client.call(name, right, { body: '{"learner": "offers"' + ' '.repeat(200000) })).status, 413);
    const early = ['no_episode', 'not_json', 'unknown_field', 'not_an_object', 'out_of_range', 'missing'];
    const refusals = ['{', '"text"', JSON.stringify({ zanzibar: 1 })];
    for (const [schema] of client.bodies(o))
      for (const field of Object.keys(client.resolve(schema).properties)) refusals.push(JSON.stringify({ ...client.build(schema, right), [field]: { deeply: ['wrong'] } }));
    for (const body of refusals) {
      const answer = await client.call(name, right, { body });
      assert.ok(early.includes(answer.body.error.code), `${name} ${body}: ${JSON.stringify(answer.body)}`);
      assert.ok(!JSON.stringify(answer.body).includes('zanzibar'));
    }
  }
}

async function isRefusedForItself() {
  const same = key();
  await client.call('decideOnce', { learner: 'offers', state: 0, 'Idempotency-Key': same });
  await code('key_reused', client.call('decideOnce', { learner: 'offers', state: 1, 'Idempotency-Key': same }));
  await code('out_of_range', client.call('decideOnce', { learner: 'offers', state: 0, 'Idempotency-Key': 'short' }));
  await code('local', client.call('openEpisode', { learner: 'phone' }));
  await code('episodes', client.call('decideOnce', { learner: 'walk', state: 0 }));
  await code('no_learner', client.call('decideOnce', { learner: 'nobody', state: 0 }));
  await code('not_local', client.call('report', { learner: 'offers', report: 'AAAA', 'Idempotency-Key': key() }));
  await code('out_of_range', client.call('report', { learner: 'phone', report: 'AAAA', 'Idempotency-Key': key() }));
  await code('no_episode', client.call('decide', { id: 'nothing', state: 0 }));
  await code('out_of_range', client.call('observeOnce', { decision: 'nothing', reward: 1 }));
  const error = client.checker('components', 'schemas', 'Error');
  for (const [method, path, status] of [['GET', '/v1/nothing', 404], ['DELETE', '/v1/decide', 405]]) {
    const answer = await fetch(url + path, { method });
    assert.equal(answer.status, status);
    assert.equal(error(await answer.json()), '');
  }
}

/* Simulated users, and everything that they and the service say to each other held against the document. */
async function isListenedTo() {
  const problems = [];
  const between = createServer(async (request, answer) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces), operation = client.match(request.method, request.url.split('?')[0]);
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const got = await fetch(url + request.url, { method: request.method, headers, body: body.length > 0 ? body : undefined });
    const said = await got.text();
    try {
      assert.ok(operation, `${request.method} ${request.url}`);
      const type = (request.headers['content-type'] ?? 'application/json').split(';')[0];
      if (operation.requestBody && type === 'application/json')
        assert.equal(client.checker('paths', operation.path, operation.method.toLowerCase(), 'requestBody', 'content', type, 'schema')(JSON.parse(body)), '');
      client.check(operation, { status: got.status, headers: got.headers, text: said });
    } catch (error) {
      problems.push(error.message);
    }
    const back = Object.fromEntries([...got.headers].filter(([name]) => !['connection', 'content-length', 'transfer-encoding', 'keep-alive'].includes(name)));
    answer.writeHead(got.status, { ...back, 'Content-Length': Buffer.byteLength(said) }).end(said);
  });
  await new Promise((resolve) => { between.listen(0, '127.0.0.1', resolve); });
  const table = ['--world', 'random-tabular', '--set', 'states=6', '--set', 'actions=2', '--set', 'horizon=4'];
  for (const [learner, world] of [['walk', table], ['phone', table], ['banner', ['--world', 'linear-bandit', '--set', 'd=5', '--set', 'actions=3']]])
    await promisify(execFile)(program, ['simulate-users', `http://127.0.0.1:${between.address().port}`, '--token-file', join(box, 'admin'), '--learner', learner, '--users', '20', ...world]);
  between.close();
  between.closeAllConnections();
  assert.deepEqual(problems, []);
  assert.ok(client.seen.get('report').get(202) >= 20, 'devices have reported');
}

for (const part of [isOpenapi, missesWhatIsNotWritten, readsEverything, walks, decidesOnce, batches, bytes, isRefused, isRefusedForItself, isListenedTo, readsEverything]) await part();
for (const [name, seen] of client.seen) {
  if (!isShown(client.operations.get(name))) continue;
  const wanted = Object.keys(client.operations.get(name).responses).find((s) => s < 300);
  assert.ok(seen.has(Number(wanted)), `${name} was never answered ${wanted}`);
}
console.log(`${client.seen.size} operations, ${[...client.seen.values()].reduce((n, s) => n + s.size, 0)} kinds of answers`);
