import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { HttpClient } from '../../src/guard/http/http-client.ts';
import type { InferResponse } from '../../src/guard/tensors/protocol.ts';
import { configTensors } from '../helpers/guards/fake-contract.ts';
import {
  connect,
  connected,
  guard,
  judge,
  kserveHttpServer,
  readingOf,
  restGuard,
} from '../helpers/guards/guard-pool.ts';
import { expectOnlyFailure, failure, verdict } from '../helpers/guards/outcomes.ts';
import { prompt, prompts } from '../helpers/guards/requests.ts';
import type { RestScripted } from '../helpers/guards/rest-guard.ts';
import type { ScriptedGuardOptions, SeenRequest } from '../helpers/guards/scripted-guard.ts';

const MIB = 1024 * 1024;
const BAD = 'text 17';
const EMPTY = { name: '', datatype: '', shape: [] };

const withOutput = (reply: InferResponse, bytes: number): InferResponse => ({
  ...reply,
  outputs: [...reply.outputs, { name: 'MORE', datatype: 'BYTES', shape: [bytes] }],
  raw_output_contents: [...reply.raw_output_contents, Buffer.alloc(bytes)],
});
const misshapen = (reply: InferResponse, shape: readonly number[]): InferResponse => {
  return { ...reply, outputs: reply.outputs.map((output) => ({ ...output, shape })) };
};

describe('a malformed reply', () => {
  test.each<[what: string, change: (reply: InferResponse) => InferResponse]>([
    ['8 MiB', (reply) => withOutput(reply, 8 * MIB)],
    ['a hundred thousand tensors', (reply) => ({ ...reply, outputs: Array(100_000).fill(EMPTY) })],
    ['a shape of 10^9', (reply) => misshapen(reply, [1e9, 1e9])],
    ['negative dimensions', (reply) => misshapen(reply, [-1, -13])],
    ['a name of 40 kB', (reply) => ({ ...reply, model_version: 'x'.repeat(40_000), outputs: [] })],
    ['outputs without contents', (reply) => ({ ...reply, raw_output_contents: [] })],
  ])('costs one item: %s', async (_what, change) => {
    const isBad = ({ inputs }: SeenRequest) => inputs['TEXT']!.includes(BAD);
    const script = (request: SeenRequest) => (isBad(request) ? { reply: change } : undefined);
    const server = await guard({ maxBatchSize: 8, script });
    expectOnlyFailure(await judge(await connect([server]), prompts(60)), 17, 'INVALID_REPLY');
    // The batch with it, each of its rows, and the bad one once more at most.
    expect(server.seen.filter(isBad).length).toBeLessThanOrEqual(3);
  });

  test('to everything puts the guard out, and is not asked for again and again', async () => {
    const script = () => ({ reply: (ordinary: InferResponse) => withOutput(ordinary, 8 * MIB) });
    const { server, pool } = await connected(guard, { maxBatchSize: 8, script }, { maxWaitMs: 1500 });
    await expect(judge(pool, prompts(60))).rejects.toMatchObject({ kind: 'service' });
    expect(server.seen.length).toBeLessThan(120);
  });
});

describe('a configuration', () => {
  const [input] = configTensors([['MORE', 'BYTES', [1]]]);
  const manyInputs = Array<NonNullable<typeof input>>(2e5).fill(input!);
  const version = (change: Partial<InferResponse>): ScriptedGuardOptions => ({
    onVersion: () => ({ reply: (reply) => ({ ...reply, ...change }) }),
  });
  test.each<[what: string, options: ScriptedGuardOptions]>([
    ['a name of a megabyte', { config: (config) => ({ ...config, name: 'x'.repeat(MIB) }) }],
    ['two hundred thousand inputs', { config: (config) => ({ ...config, input: manyInputs }) }],
    ['a version reply of 8 MiB', version({ raw_output_contents: [Buffer.alloc(8 * MIB)] })],
  ])('with %s is no guard', async (_what, options) => {
    await expect(readingOf(await guard(options))).rejects.toMatchObject({ kind: 'service' });
  });

  test.each<[what: string, change: object]>([
    ['batches of 2^31 - 1', { max_batch_size: 2 ** 31 - 1 }],
    ['fewer instances than none', { instance_group: [{ name: 'guard', count: -5 }] }],
  ])('with %s is used within our own bounds', async (_what, change) => {
    const server = await guard({ config: (config) => ({ ...config, ...change }) });
    const reading = await readingOf(server);
    expect(reading).toMatchObject({ kind: 'triton' });
    if (reading.fingerprint !== null) expect(reading.maxBatchSize).toBeLessThanOrEqual(4096);
    (await judge(await connect([server]), prompts(500))).forEach(verdict);
    expect(server.seen.every(({ rows }) => rows <= 4096)).toBe(true);
  });
});

const ordinary = { flagged: false, score: 0.1, latency_ms: 1 };
const bomb = gzipSync(Buffer.alloc(64 * MIB, 32)).toString('latin1');
const categories = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, true]));

test.each<[what: string, scripted: RestScripted]>([
  ['8 MiB', { body: ' '.repeat(8 * MIB) }],
  ['what unpacks to 64 MiB', { headers: { 'content-encoding': 'gzip' }, body: bomb }],
  ['deep nesting', { body: '['.repeat(100_000) }],
  ['thousands of categories', { body: { ...ordinary, subcategory_flags: categories } }],
])('a malformed reply over REST costs one item: %s', async (_what, scripted) => {
  const server = await restGuard({ script: ({ content }) => (content === BAD ? scripted : undefined) });
  const outcomes = await judge(await connect([server]), prompts(30));
  expectOnlyFailure(outcomes, 17, 'INVALID_REPLY');
  expect(server.seen.filter(({ content }) => content === BAD).length).toBeLessThanOrEqual(2);
});

test('a reply that trickles in runs into the timeout', async () => {
  const server = await restGuard({ script: ({ content }) => (content === BAD ? 'drip' : undefined) });
  const outcomes = await judge(await connect([server], { requestTimeoutMs: 500 }), prompts(30));
  expectOnlyFailure(outcomes, 17, 'TIMEOUT', 5);
});

type IsWrong = (texts: readonly string[]) => boolean;

const overHttp = (isWrong: IsWrong) =>
  kserveHttpServer({ form: 'triton', script: (texts) => (isWrong(texts) ? { id: 'another' } : undefined) });

const overGrpc = (isWrong: IsWrong) =>
  guard({
    script: ({ inputs }) =>
      isWrong(inputs['TEXT']!) ? { reply: (ordinary) => ({ ...ordinary, id: 'another' }) } : undefined,
  });

describe.each([
  ['gRPC', overGrpc],
  ['HTTP', overHttp],
])('a reply over %s with the id of another request', (_, start) => {
  it('is not believed: the items are judged again', async () => {
    let wrong = 3;
    const outcomes = await judge(await connect([await start(() => wrong-- > 0)]), prompts(4));
    for (const outcome of outcomes) verdict(outcome);
    expect(wrong).toBeLessThan(0);
  });

  it('ends its item as INVALID_REPLY if it always comes', async () => {
    const pool = await connect([await start((texts) => texts.includes('swapped'))]);
    const [good, bad] = await judge(pool, [prompt('good'), prompt('swapped')]);
    verdict(good);
    expect(failure(bad)).toMatchObject({ error: { code: 'INVALID_REPLY' }, attempts: 5 });
  });
});

/** Replies to each request with its path, and once more 5 ms later: a reply to nothing. */
const TWICE = `
  const { createServer } = require('node:net');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      const path = /POST (\\S+)/.exec(data.toString())[1];
      const reply = (text) => socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: ' + text.length + '\\r\\n\\r\\n' + text);
      reply(path);
      setTimeout(() => reply('/nothing'), 5);
    });
  });
  server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port));
`;

test('a reply that came before its request was sent closes the connection and counts as none', async () => {
  const worker = new Worker(TWICE, { eval: true });
  onTestFinished(() => void worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  const base = { path: '', host: '127.0.0.1', port, secure: false, loopback: true };
  const client = new HttpClient(base, { token: null, tls: {} }, 1);
  onTestFinished(() => client.close());
  const { signal } = new AbortController();
  for (let number = 0; number < 20; number++) {
    const path = `/${number}`;
    const body = { contentType: 'text/plain', chunks: [Buffer.from('x')] };
    const reply = await client.send(
      { method: 'POST', path, body, maxReplyBytes: 100 },
      { timeoutMs: 120_000, signal },
    );
    expect(reply.body!.toString()).toBe(path);
    // The connection is kept for the next request.
    await delay(1);
    // The other reply arrives while this thread is busy, so it is there before the next request is sent.
    for (const end = performance.now() + 15; performance.now() < end;);
  }
});
