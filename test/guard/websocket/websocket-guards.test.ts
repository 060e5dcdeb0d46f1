import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { PoolOptions } from '../../../src/guard/pool/connect-guards.ts';
import {
  closeAfterEach,
  connect,
  failure,
  generation,
  judge,
  readingOf,
  refusalOf,
  socketServer,
  stateOf,
  verdict,
} from '../../helpers/guards/guard-pool.ts';
import { ordinary, startSocketServer, type StreamScript } from '../../helpers/guards/scripted-streams.ts';

closeAfterEach();

const refusals: [statusLine: string, message: string][] = [
  ['401 Unauthorized', 'not authorised'],
  ['403 Forbidden', 'not authorised'],
  ['404 Not Found', 'it has no such path'],
  ['302 Found', 'it redirects elsewhere'],
];

it.each(refusals)('a handshake answered with %s ends the start at once', async (refuse, message) => {
  const server = await socketServer({ refuse });
  expect(await refusalOf([server])).toContain(message);
});

it('a handshake that the server fails on is tried again', async () => {
  const refusals = ['503 Service Unavailable', '500 Internal Server Error'].map(async (refuse) => {
    const server = await socketServer({ refuse });
    expect(await refusalOf([server], { startTimeoutMs: 1500 })).toContain('not ready');
    expect(server.authorizations.length).toBeGreaterThan(1);
  });
  await Promise.all(refusals);
});

it('a server that is none of WebSockets is not a guard', async () => {
  const server = createServer((socket) => socket.end('220 smtp.example ready\r\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await refusalOf([{ address }])).toContain('protocol of a guard');
  server.close();
});

it.each<[what: string, script: StreamScript]>([
  ['a message over 16 KiB', (stream) => stream.fail('INTERNAL', 'x'.repeat(20_000))],
  [
    'more replies than messages',
    (stream, message) => {
      ordinary(stream, message);
      for (let count = 0; count < 100; count++) stream.verdict();
    },
  ],
])('%s is against the contract, and costs one item (C-428)', async (_, script) => {
  const server = await socketServer({
    script: (stream, message) => (stream.messages[0]!.chunk === 'bad' ? script : ordinary)(stream, message),
  });
  const [bad, good] = await judge(await connect([server]), [generation(['bad', 'b']), generation(['a'])]);
  expect(failure(bad).error.code).toBe('INVALID_REPLY');
  verdict(good);
});

it('sends its token, and to nobody else (C-505)', async () => {
  const server = await socketServer();
  const token: PoolOptions['token'] = ({ address }) => (address === server.address ? 'secret' : null);
  const pool = await connect([server], { token });
  await judge(pool, [generation(['a'])]);
  expect(new Set(server.authorizations)).toEqual(new Set(['Bearer secret']));
});

it('has no fingerprint', async () => {
  const server = await socketServer();
  const pool = await connect([server]);
  expect(verdict((await judge(pool, [generation(['a'])]))[0]).fingerprint).toBeNull();
  expect(pool.status()).toMatchObject([{ kind: 'websocket', fingerprint: null, modelVersion: null }]);
  const expectFingerprint = `sha256:${'a'.repeat(64)}`;
  await expect(connect([server], { expectFingerprint })).rejects.toMatchObject({ kind: 'usage' });
  expect(await readingOf(server)).toEqual({ name: server.address, kind: 'websocket', fingerprint: null });
});

it('a guard that gives stale verdicts is asked by sending more', async () => {
  const server = await socketServer({
    script: (stream, message) => {
      if (message.endOfStream) ordinary(stream, message);
      else stream.verdict({ processedUntilSeq: message.seq - 1 });
    },
  });
  const [outcome] = await judge(await connect([server]), [generation(['a', 'b', 'c', 'd'])]);
  expect(verdict(outcome).stream).toMatchObject({ judgedChunks: 4, lagChunks: 1 });
});

it('comes back after an outage, and the generation is judged at its first attempt (C-714)', async () => {
  const first = await startSocketServer();
  const pool = await connect([first]);
  const out = stateOf(pool, 'out');
  first.setScript(() => void first.kill());
  const judged = judge(pool, [generation(['a', 'b'])]);
  await out;
  await socketServer({ port: Number(new URL(first.address).port) });
  expect(verdict((await judged)[0]).attempts).toBe(1);
});
