import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect, guard, judge, restGuard } from '../helpers/guards/guard-pool.ts';
import { verdict } from '../helpers/guards/outcomes.ts';
import { prompts } from '../helpers/guards/requests.ts';

const VARIABLES = ['grpc_proxy', 'http_proxy', 'https_proxy', 'all_proxy'];

/** What has come to the proxy, first lines of requests. */
const seen: string[] = [];
const proxy = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.writeHead(502).end();
});
proxy.on('connect', (request, socket) => {
  seen.push(`CONNECT ${request.url}`);
  socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
});

beforeEach(async () => {
  seen.length = 0;
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  for (const name of VARIABLES) {
    vi.stubEnv(name, url);
    vi.stubEnv(name.toUpperCase(), url);
  }
  for (const name of ['no_proxy', 'NO_PROXY', 'no_grpc_proxy']) vi.stubEnv(name, '');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => proxy.close(resolve));
});

// 0.0.0.0 is this machine, but not by a name that counts as such.
test.each([
  ['grpc', '0.0.0.0', guard],
  ['http', '0.0.0.0', restGuard],
] as const)('%s to %s goes through no proxy of the environment', async (scheme, host, start) => {
  const { port } = await start();
  const pool = await connect([{ address: `${scheme}://${host}:${port}` }]);
  (await judge(pool, prompts(10))).forEach(verdict);
  expect(seen).toEqual([]);
});
