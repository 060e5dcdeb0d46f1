import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type GuardServer, startGuardServer } from '../../../src/guard-server/server.ts';
import type { NetworkLimits } from '../../../src/guard-server/service/limits.ts';
import { promptInputs } from '../../helpers/guards/guard-client.ts';
import { binaryBody, replyOf } from '../../helpers/guards/http-infer.ts';

const KIB = 1024;
const INFER = '/v2/models/guard/infer';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function server(
  limits: Partial<NetworkLimits> = {},
  token: string | null = null,
): Promise<GuardServer> {
  const started = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    httpPort: 0,
    synthetic: { serviceTime: 'zero' },
    token,
    limits,
  });
  opened.push(started);
  return started;
}

/** A connection that sends what a client would not. */
async function raw({ httpAddress }: GuardServer): Promise<Socket> {
  const { hostname, port } = new URL(httpAddress!);
  const socket = connect(Number(port), hostname);
  opened.push({ close: () => socket.destroy() });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

const head = (method: string, path: string, ...headers: string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'host: localhost', ...headers, '', ''].join('\r\n');

const good = binaryBody(promptInputs(['hello']));

async function judge({ httpAddress }: GuardServer, given: RequestInit = {}): Promise<number> {
  const response = await fetch(`${httpAddress!}${INFER}`, { method: 'POST', ...good, ...given });
  await response.arrayBuffer();
  return response.status;
}

describe('a body that is too long', () => {
  const limits = { bodyBytes: 10 * KIB };

  it('is refused by its declared length', async () => {
    const socket = await raw(await server(limits));
    socket.write(head('POST', INFER, `content-length: ${10 * KIB + 1}`));
    const reply = await text(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 413 [^]*connection: close/);
    expect(reply).toMatch(/\{"error":"the body has more than 10240 bytes"\}$/);
  });

  it('is refused where it becomes so, in chunks', async () => {
    const socket = await raw(await server(limits));
    socket.write(head('POST', INFER, 'transfer-encoding: chunked'));
    socket.write(`1400\r\n${'a'.repeat(0x1400)}\r\n`);
    socket.write(`1401\r\n${'a'.repeat(0x1401)}\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 [^]*connection: close[^]*more than 10240 bytes"\}$/);
  });

  it('is refused where it becomes so, decompressed', async () => {
    const guard = await server(limits);
    const bomb = gzipSync(Buffer.alloc(8 * KIB * KIB));
    expect(bomb.length).toBeLessThan(10 * KIB);
    const response = await fetch(`${guard.httpAddress!}${INFER}`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: bomb,
    });
    expect(await replyOf(response)).toMatchObject({
      status: 413,
      json: { error: expect.any(String) as string },
    });
    expect(await judge(guard)).toBe(200);
  });
});

describe('time', () => {
  it('is bounded for headers and for a body to arrive', async () => {
    const guard = await server({ firstCallMs: 5000, messageTimeoutMs: 5000 });
    const answers = [
      'POST / HTTP/1.1\r\n',
      `${head('POST', INFER, 'transfer-encoding: chunked')}2\r\nab\r\n`,
    ].map(async (sent) => {
      const socket = await raw(guard);
      socket.write(sent);
      return text(socket);
    });
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(await judge(guard)).toBe(200);
  });

  it('is bounded for a client to take its replies', async () => {
    const socket = await raw(await server({ firstCallMs: 100, messageTimeoutMs: 100 }));
    socket.pause();
    // Replies of some 10 MB, which no buffer of the system holds.
    for (let request = 0; request < 5000; request++) socket.write(head('GET', '/v2/models/guard/config'));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // It learns of the end only when it writes.
    const beat = setInterval(() => socket.write('\r\n'), 50);
    await closed;
    clearInterval(beat);
  });
});

describe('memory of open requests', () => {
  it('is bounded over all connections', async () => {
    const guard = await server({ callBytes: 256 * KIB });
    const sockets = await Promise.all([raw(guard), raw(guard)]);
    for (const socket of sockets) {
      socket.write(head('POST', INFER, `content-length: ${10 * KIB * KIB}`));
      socket.write(Buffer.alloc(200 * KIB));
    }
    const reply = await Promise.race(sockets.map((socket) => text(socket)));
    expect(reply).toMatch(/^HTTP\/1\.1 503 [^]*connection: close/);
    expect(reply).toMatch(/\{"error":"open requests hold as much memory as the server allows"\}$/);
  });

  it('counts no longer when a request is over, however it ends', async () => {
    const guard = await server({ callBytes: 256 * KIB });
    for (let round = 0; round < 5; round++) {
      const socket = await raw(guard);
      socket.write(head('POST', INFER, `content-length: ${10 * KIB * KIB}`));
      socket.write(Buffer.alloc(150 * KIB));
      socket.destroy();
    }
    // Of 170 KiB: of the requests above, none may stay.
    const long = binaryBody(promptInputs(['a'.repeat(170 * KIB)]));
    await expect.poll(() => judge(guard, long)).toBe(400);
    for (let round = 0; round < 5; round++) expect(await judge(guard, long)).toBe(400);
  });

  it('counts pipelined requests', async () => {
    const guard = await server({ callBytes: 64 * KIB });
    guard.synthetic!.pause();
    const socket = await raw(guard);
    const { headers, body } = good;
    const request = head(
      'POST',
      INFER,
      `content-length: ${body.length}`,
      `inference-header-content-length: ${headers['inference-header-content-length']!}`,
    );
    for (let sent = 0; sent < 5; sent++) socket.write(Buffer.concat([Buffer.from(request), body]));
    await expect.poll(() => guard.synthetic!.counts.executions).toBeGreaterThan(0);
    expect(await judge(guard)).toBe(503);
    guard.synthetic!.resume();
    socket.end();
    expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual([
      ...['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 503'],
    ]);
  });
});

describe('access', () => {
  const token = 'opensesame';

  it('needs the token, for every path', async () => {
    const guard = await server({}, token);
    for (const path of ['/v2/health/live', '/v2/models/guard', '/nothing']) {
      const refused = await fetch(`${guard.httpAddress!}${path}`);
      expect(refused.status).toBe(401);
      expect(await refused.json()).toEqual({ error: 'this server needs a bearer token' });
    }
    const headers = { ...good.headers, authorization: `Bearer ${token}` };
    expect(await judge(guard, { headers })).toBe(200);
  });

  it('is refused before a body arrives', async () => {
    const socket = await raw(await server({}, token));
    socket.write(head('POST', INFER, `content-length: ${50 * KIB * KIB}`, 'expect: 100-continue'));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('is refused to pages of other sites', async () => {
    const guard = await server();
    const headers = { ...good.headers, origin: 'http://attacker.example' };
    expect(await judge(guard, { headers })).toBe(403);
  });
});

it('connections beyond the most there may be are closed', async () => {
  const guard = await server({ connections: 1 });
  const first = await raw(guard);
  first.write(head('GET', '/v2/health/live'));
  await once(first, 'data');
  expect(await text(await raw(guard))).toBe('');
});

it('what is no HTTP is answered by 400, and the server goes on', async () => {
  const guard = await server();
  const socket = await raw(guard);
  socket.write('\u0016\u0003\u0001 this is TLS');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  expect(await judge(guard)).toBe(200);
});

it('a server that exits answers what it has, and refuses what comes after', async () => {
  const guard = await server();
  guard.synthetic!.pause();
  const running = judge(guard);
  const socket = await raw(guard);
  socket.write(`${head('POST', INFER, 'transfer-encoding: chunked')}1\r\n`);
  await expect.poll(() => guard.synthetic!.counts.executions).toBe(1);
  const closed = guard.close();
  expect(await running).toBe(200);
  socket.write(`{\r\n0\r\n\r\n${head('GET', '/v2/health/live')}`);
  expect(await text(socket)).toMatch(
    /^HTTP\/1\.1 400 [^]*HTTP\/1\.1 503 [^]*\{"error":"the server is exiting"\}$/,
  );
  await closed;
});

it('a scripted outage drops connections, and ends', async () => {
  const guard = await server();
  const socket = await raw(guard);
  guard.synthetic!.stopListening();
  expect(await text(socket)).toBe('');
  await expect(judge(guard)).rejects.toThrow('fetch failed');
  await guard.synthetic!.listenAgain();
  expect(await judge(guard)).toBe(200);
});
