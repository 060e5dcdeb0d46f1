import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { HttpClient } from '../../src/guard/http/http-client.ts';
import {
  connect,
  failure,
  guard,
  judge,
  kserveHttpServer,
  prompt,
  prompts,
  verdict,
} from '../helpers/guards/guard-pool.ts';

type IsWrong = (texts: readonly string[]) => boolean;

const http = (isWrong: IsWrong) =>
  kserveHttpServer({ form: 'triton', script: (texts) => (isWrong(texts) ? { id: 'another' } : undefined) });

const grpc = (isWrong: IsWrong) =>
  guard({
    script: ({ inputs }) =>
      isWrong(inputs['TEXT']!) ? { reply: (ordinary) => ({ ...ordinary, id: 'another' }) } : undefined,
  });

describe.each([
  ['gRPC', grpc],
  ['HTTP', http],
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
      { timeoutMs: 20_000, signal },
    );
    expect(reply.body!.toString()).toBe(path);
    // The connection is kept for the next request.
    await delay(1);
    // The other reply arrives while this thread is busy, so it is there before the next request is sent.
    for (const end = performance.now() + 15; performance.now() < end;);
  }
});
