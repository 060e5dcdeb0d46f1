import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type GuardServer, startGuardServer } from '../../../src/guard-server/server.ts';
import { promptInputs } from '../../helpers/guards/guard-client.ts';
import { binaryBody } from '../../helpers/guards/http-infer.ts';

const MIB = 1024 * 1024;
const INFER = '/v2/models/guard/infer';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function server(token: string | null = null): Promise<GuardServer> {
  const started = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    httpPort: 0,
    synthetic: { serviceTime: 'zero' },
    token,
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

describe('a body of more than 64 MiB', () => {
  it('is refused by its declared length (C-812)', async () => {
    const socket = await raw(await server());
    socket.write(head('POST', INFER, `content-length: ${64 * MIB + 1}`));
    const reply = await text(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 413 [^]*connection: close/);
    expect(reply).toMatch(/\{"error":"the body has more than 67108864 bytes"\}$/);
  });

  it('is refused where it becomes so, decompressed', async () => {
    const guard = await server();
    const bomb = gzipSync(Buffer.alloc(64 * MIB + 1));
    const headers = { 'content-encoding': 'gzip' };
    const response = await fetch(`${guard.httpAddress!}${INFER}`, { method: 'POST', headers, body: bomb });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ error: 'the body has more than 67108864 bytes' });
    expect(await judge(guard)).toBe(200);
  });
});

describe('access', () => {
  const token = 'opensesame';

  it('needs the token, for every path (C-505)', async () => {
    const guard = await server(token);
    for (const path of ['/v2/health/live', '/v2/models/guard', '/nothing']) {
      const refused = await fetch(`${guard.httpAddress!}${path}`);
      expect(refused.status).toBe(401);
      expect(await refused.json()).toEqual({ error: 'this server needs a bearer token' });
    }
    const headers = { ...good.headers, authorization: `Bearer ${token}` };
    expect(await judge(guard, { headers })).toBe(200);
  });

  it('is refused to pages of other sites', async () => {
    const guard = await server();
    const headers = { ...good.headers, origin: 'http://attacker.example' };
    expect(await judge(guard, { headers })).toBe(403);
  });
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
