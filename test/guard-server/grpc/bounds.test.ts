import { once } from 'node:events';
import { constants, type Settings } from 'node:http2';
import { connect } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { afterAll, describe, expect, it } from 'vitest';
import type { NetworkLimits } from '../../../src/guard-server/service/limits.ts';
import { type GuardServer, startGuardServer } from '../../../src/guard-server/server.ts';
import { promptInputs, TestClient } from '../../helpers/guards/guard-client.ts';
import { encodeStrings } from '../../../src/guard/tensors/raw.ts';
import { delimited, framed, prefix, RawConnection } from '../../helpers/guards/raw-call.ts';

const KIB = 1024;
const TOKEN = 'opensesame';

const opened: { close(): unknown }[] = [];
afterAll(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function server(
  limits: Partial<NetworkLimits> = {},
  token: string | null = null,
  executionMs = 0,
): Promise<GuardServer> {
  const started = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: { serviceTime: () => executionMs },
    token,
    limits,
  });
  opened.push(started);
  return started;
}

function raw({ address }: GuardServer, settings: Settings = {}): RawConnection {
  const connection = new RawConnection(address, settings);
  opened.push(connection);
  return connection;
}

function honest({ address }: GuardServer): TestClient {
  const client = new TestClient(address);
  opened.push(client);
  return client;
}

/** The message of a request for one text. */
function textMessage(bytes: number): Buffer {
  const inputs = [
    ['REQUEST_TYPE', 'prompt'],
    ['MODALITY', 'text'],
    ['TEXT', 'a'.repeat(bytes)],
  ] as const;
  const tensors = inputs.map(([name]) =>
    delimited(
      5,
      Buffer.concat([
        delimited(1, Buffer.from(name)),
        delimited(2, Buffer.from('BYTES')),
        delimited(3, Buffer.from([1, 1])),
      ]),
    ),
  );
  const raws = inputs.map(([, text]) => delimited(7, encodeStrings([text])));
  return Buffer.concat([delimited(1, Buffer.from('guard')), ...tensors, ...raws]);
}

const textOf = (bytes: number) => ({ tensors: promptInputs(['a'.repeat(bytes)]) });

describe('a call without the token', () => {
  it('ends before its message is there', async () => {
    const guard = await server({}, TOKEN);
    const { stream, status: ended } = raw(guard).call();
    stream.write(prefix(50 * KIB * KIB));
    expect(await ended).toBe(status.UNAUTHENTICATED);
  });

  it('is told to send nothing more', async () => {
    const guard = await server({}, TOKEN);
    const { stream } = raw(guard).call();
    stream.write(prefix(50 * KIB * KIB));
    await once(stream, 'close');
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });
});

describe('a message', () => {
  it('that is too long is refused by its prefix', async () => {
    const guard = await server();
    const { stream, status: ended } = raw(guard).call();
    stream.write(prefix(96 * KIB * KIB + 1));
    expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
  });

  it.each([
    ['gzip', gzipSync(textMessage(5))],
    ['deflate', deflateSync(textMessage(5))],
  ])('may be compressed by %s, on a stream as well', async (encoding, body) => {
    const guard = await server();
    for (const rpc of ['ModelInfer', 'ModelStreamInfer']) {
      const { stream, status: ended } = raw(guard).call(rpc, { 'grpc-encoding': encoding });
      stream.end(framed(body, true));
      expect(await ended).toBe(status.OK);
    }
  });

  it('that is compressed may be no longer than another one', async () => {
    const guard = await server();
    const { stream, status: ended } = raw(guard).call('ModelInfer', { 'grpc-encoding': 'gzip' });
    stream.end(framed(gzipSync(Buffer.alloc(96 * KIB * KIB + 1)), true));
    expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('that is compressed needs room for what it may be', async () => {
    const guard = await server({ callBytes: 20 * KIB * KIB });
    const bomb = gzipSync(Buffer.alloc(24 * KIB * KIB));
    const { stream, status: ended } = raw(guard).call('ModelInfer', { 'grpc-encoding': 'gzip' });
    stream.end(framed(bomb, true));
    expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
    expect((await honest(guard).infer(textOf(5))).outputs).toHaveLength(5);
  });

  it.each([
    ['gzip', Buffer.from('not gzip'), status.INTERNAL],
    ['br', Buffer.from('anything'), status.UNIMPLEMENTED],
  ])(
    'compressed by %s ends its call where it is not, or the server does not know it',
    async (encoding, body, code) => {
      const guard = await server();
      const { stream, status: ended } = raw(guard).call('ModelInfer', { 'grpc-encoding': encoding });
      stream.end(framed(body, true));
      expect(await ended).toBe(code);
      expect((await honest(guard).infer(textOf(5))).outputs).toHaveLength(5);
    },
  );

  it('has none after it', async () => {
    const guard = await server();
    const { stream, status: ended } = raw(guard).call();
    stream.write(Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(10))]));
    expect(await ended).toBe(status.UNIMPLEMENTED);
  });

  it('that takes too long to arrive is not waited for', async () => {
    const guard = await server({ messageTimeoutMs: 50 });
    const { stream, status: ended } = raw(guard).call();
    stream.write(prefix(100));
    expect(await ended).toBe(status.DEADLINE_EXCEEDED);
    await once(stream, 'close');
  });

  it('that is no request is refused, and the next one is served', async () => {
    const guard = await server();
    const connection = raw(guard);
    const { stream, status: ended } = connection.call();
    stream.end(framed(Buffer.alloc(100, 0xff)));
    expect(await ended).toBe(status.INVALID_ARGUMENT);
    expect((await honest(guard).infer(textOf(5))).outputs).toHaveLength(5);
  });
});

describe('a deadline', () => {
  // gRPC for Python and C++ sends 27000 hours for whatever is longer. In milliseconds it has more than 32 bits.
  it.each(['27000H', '600H', '3000000S'])('in %s leaves a call its time', async (timeout) => {
    const guard = await server();
    const connection = raw(guard);
    const { stream, status: ended } = connection.call('ModelInfer', { 'grpc-timeout': timeout });
    const soon = connection.call('ModelInfer', { 'grpc-timeout': '20m' });
    expect(await soon.status).toBe(status.DEADLINE_EXCEEDED);
    stream.end(framed(Buffer.alloc(100, 0xff)));
    expect(await ended).toBe(status.INVALID_ARGUMENT);
  });
});

describe('bytes of open calls', () => {
  const limits = { callBytes: 256 * KIB };

  it('are bounded over all connections', async () => {
    const guard = await server(limits);
    const first = raw(guard).call();
    first.stream.write(Buffer.concat([prefix(10 * KIB * KIB), Buffer.alloc(200 * KIB)]));
    const second = raw(guard).call();
    second.stream.write(Buffer.concat([prefix(10 * KIB * KIB), Buffer.alloc(200 * KIB)]));
    expect(await Promise.race([first.status, second.status])).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('count no longer when their call is over, however it ends', async () => {
    const guard = await server({ ...limits, messageTimeoutMs: 30_000 });
    const client = honest(guard);
    for (let round = 0; round < 5; round++) {
      const left = raw(guard).call();
      left.stream.write(Buffer.concat([prefix(10 * KIB * KIB), Buffer.alloc(150 * KIB)]));
      const ping = new Promise((resolve) => left.stream.session!.ping(resolve));
      await ping;
      const gone = once(left.stream, 'close');
      left.stream.close();
      await gone;
      // Of 200 KiB each: one that stayed would be one too many.
      const error = await client.infer(textOf(200 * KIB)).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
    }
  });

  it('count the pieces in which a message arrives', async () => {
    const guard = await server(limits);
    const { stream, status: ended } = raw(guard).call();
    stream.write(prefix(10 * KIB * KIB));
    const sent = (async () => {
      for (let piece = 0; piece < 2000 && !stream.destroyed; piece++) {
        stream.write(Buffer.alloc(1));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
    await sent;
  });

  it('count on a stream until they are answered', async () => {
    const guard = await server(limits, null, 1000);
    const { stream, status: ended } = raw(guard).call('ModelStreamInfer');
    for (let message = 0; message < 14 && !stream.destroyed; message++) {
      stream.write(framed(textMessage(20 * KIB)));
      await new Promise((resolve) => stream.session!.ping(resolve));
    }
    expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('count no longer when a stream has answered them', async () => {
    const guard = await server(limits);
    const { stream, status: ended } = raw(guard).call('ModelStreamInfer');
    for (let message = 0; message < 20; message++) {
      stream.write(framed(textMessage(20 * KIB)));
      await once(stream, 'data');
    }
    stream.end();
    expect(await ended).toBe(status.OK);
  });

  it.each([
    ['calls', {}, 5],
    ['headers', { 'x-padding': 'a'.repeat(40 * KIB) }, 2],
  ])('include those of %s that send no message', async (_, headers, fit) => {
    const guard = await server({ callBytes: 128 * KIB });
    const connection = raw(guard);
    const calls = Array.from({ length: 100 }, () => connection.call('ModelInfer', headers));
    const refused = calls.map(({ status: ended }) => ended);
    expect(await Promise.race(refused)).toBe(status.RESOURCE_EXHAUSTED);
    for (const { stream } of calls.slice(0, fit)) expect(stream.closed).toBe(false);
  });

  it('are released for a client that does not take its reply', async () => {
    const guard = await server({ messageTimeoutMs: 5000 });
    const { stream } = raw(guard, { initialWindowSize: 0 }).call('ServerMetadata');
    stream.end(framed(Buffer.alloc(0)));
    await once(stream, 'close');
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  });

  it('leave room for ordinary calls at the same time', async () => {
    const guard = await server({ callBytes: 4 * KIB * KIB });
    const client = honest(guard);
    const replies = await Promise.all(Array.from({ length: 300 }, () => client.infer(textOf(50))));
    expect(replies.every((reply) => reply.outputs.length === 5)).toBe(true);
  });
});

describe.concurrent('a connection', () => {
  it('without a call is closed', async () => {
    const guard = await server({ firstCallMs: 50 });
    const { hostname, port } = new URL(guard.address.replace(/^grpc/, 'http'));
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {}).resume();
    await once(socket, 'close');
  });

  it('without a call that is let in is closed', async () => {
    const guard = await server({ firstCallMs: 5000 }, TOKEN);
    const connection = raw(guard);
    const { stream, status: ended } = connection.call('ServerLive');
    stream.end(framed(Buffer.alloc(0)));
    expect(await ended).toBe(status.UNAUTHENTICATED);
    await connection.closed;
  });

  it('whose calls are all refused is closed', async () => {
    const guard = await server({ firstCallMs: 60_000 }, TOKEN);
    const connection = raw(guard);
    for (let call = 0; call < 16; call++) {
      const { stream, status: ended } = connection.call('ServerLive');
      stream.end(framed(Buffer.alloc(0)));
      if (call < 15) expect(await ended).toBe(status.UNAUTHENTICATED);
    }
    await connection.closed;
  });

  it('with a call that is let in stays', async () => {
    const guard = await server({ firstCallMs: 5000 }, TOKEN);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const unproven = raw(guard);
    const connection = raw(guard);
    for (const round of ['first', 'later']) {
      const { stream, status: ended } = connection.call('ServerLive', headers);
      stream.end(framed(Buffer.alloc(0)));
      expect(await ended, round).toBe(status.OK);
      // It came before the other connection, whose time is over now.
      await unproven.closed;
    }
  });

  it('that is idle is closed', async () => {
    const guard = await server({ idleMs: 5000 });
    const connection = raw(guard);
    const { stream, status: ended } = connection.call('ServerLive');
    stream.end(framed(Buffer.alloc(0)));
    expect(await ended).toBe(status.OK);
    await connection.closed;
  });

  it('beyond the most there may be is closed', async () => {
    const guard = await server({ connections: 2 });
    const kept = [raw(guard), raw(guard)];
    for (const connection of kept) await once(connection.session, 'remoteSettings');
    await raw(guard).closed;
    expect(kept.map(({ session }) => session.closed)).toEqual([false, false]);
  });

  it('is told how many calls it may make at a time', async () => {
    const guard = await server({ callsPerConnection: 7 });
    const { session } = raw(guard);
    await once(session, 'remoteSettings');
    expect(session.remoteSettings.maxConcurrentStreams).toBe(7);
  });
});
