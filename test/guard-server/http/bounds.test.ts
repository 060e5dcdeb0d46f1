import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { GuardServer } from '../../../src/guard-server/server.ts';
import { promptInputs } from '../../helpers/guards/guard-client.ts';
import { guardForTest } from '../../helpers/guards/shared-guard.ts';
import { binaryBody } from '../../helpers/guards/http-infer.ts';

const MIB = 1024 * 1024;
const INFER = '/v2/models/guard/infer';

const server = async (token: string | null = null): Promise<GuardServer> =>
  (await guardForTest({ httpPort: 0, token })).server;

const good = binaryBody(promptInputs(['hello']));

async function judge({ httpAddress }: GuardServer, given: RequestInit = {}): Promise<number> {
  const response = await fetch(`${httpAddress!}${INFER}`, { method: 'POST', ...good, ...given });
  await response.arrayBuffer();
  return response.status;
}

describe('a body of more than 64 MiB', () => {
  it('is refused by its declared length (C-812)', async () => {
    const { hostname, port } = new URL((await server()).httpAddress!);
    const socket = connect(Number(port), hostname);
    const length = 64 * MIB + 1;
    socket.write(`POST ${INFER} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`);
    let reply = '';
    for await (const bytes of socket) {
      reply += String(bytes);
      if (reply.endsWith('}')) break; // and hangs up: the server would wait for the body
    }
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

const token = 'opensesame';

it('access needs the token, for every path (C-505)', async () => {
  const guard = await server(token);
  for (const path of ['/v2/health/live', '/v2/models/guard', '/nothing']) {
    const refused = await fetch(`${guard.httpAddress!}${path}`);
    expect(refused.status).toBe(401);
    expect(await refused.json()).toEqual({ error: 'this server needs a bearer token' });
  }
  const headers = { ...good.headers, authorization: `Bearer ${token}` };
  expect(await judge(guard, { headers })).toBe(200);
});
