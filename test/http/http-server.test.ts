import { once } from 'node:events';
import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { openApp } from '../../src/http/app.ts';
import { HttpError } from '../../src/http/http-error.ts';
import { gate } from '../helpers/guards/gate.ts';
import { started } from './echo-server.ts';

async function ask(port: number, options: RequestOptions = {}, body = '') {
  const asked = request({ host: '127.0.0.1', port, agent: false, ...options });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const { statusCode: status, headers } = response;
  return { status, body: await text(response), connection: headers.connection };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

it('listening, on loopback by default, on a port that is taken is wrong usage', async () => {
  const { port } = await started();
  const second = started({ port });
  await expect(second).rejects.toThrow(`cannot serve echoes on 127.0.0.1 port ${port} (EADDRINUSE)`);
  await expect(second).rejects.toThrow(Failure);
});

it('keeps an idle connection for longer than a load balancer does, which is 60 s', async () => {
  const { origin } = await started();
  expect((await fetch(origin)).headers.get('keep-alive')).toBe('timeout=75');
});

describe('the Host header', () => {
  it('names this machine on loopback', async () => {
    const { port } = await started();
    for (const host of ['127.0.0.1', '127.9.9.9:1', 'LOCALHOST:9464', '[::1]:9464']) {
      expect((await ask(port, { headers: { host } })).status, host).toBe(200);
    }
    for (const host of ['attacker.example', 'localhost.attacker.example:9464', '127.0.0.1.a.example', '[']) {
      const answer = await ask(port, { headers: { host } });
      expect(answer, host).toMatchObject({ status: 403, connection: 'close' });
    }
  });

  it('may be any name where a token is required, or beyond loopback', async () => {
    const headers = { host: 'worker-1:9464' };
    const guarded = await started({ token: 'secret' });
    const authorization = 'Bearer secret';
    expect((await ask(guarded.port, { headers: { ...headers, authorization } })).status).toBe(200);
    const open = await started({ host: '0.0.0.0' });
    expect((await ask(open.port, { headers })).status).toBe(200);
  });
});

describe('the Origin header', () => {
  it('may be the server itself', async () => {
    const { port, origin } = await started();
    expect((await ask(port, { headers: { origin } })).status).toBe(200);
    const host = `LOCALHOST:${port}`;
    expect((await ask(port, { headers: { host, origin: `http://localhost:${port}` } })).status).toBe(200);
  });

  it('must not be another one', async () => {
    const { port } = await started({ token: 'secret' });
    for (const origin of ['null', 'http://127.0.0.1', 'http://attacker.example', 'http://127.0.0.1:1']) {
      const headers = { origin, authorization: 'Bearer secret' };
      expect((await ask(port, { headers })).status, origin).toBe(403);
    }
  });
});

it('a token is required: without it a request is refused before anything else is looked at', async () => {
  const { port } = await started({ token: 'secret' });
  for (const given of [undefined, '', 'Bearer', 'Bearer Secret', 'Bearer secret2', 'Basic secret']) {
    const headers = { origin: 'null', ...(given === undefined ? {} : { authorization: given }) };
    const refused = { status: 401, body: 'this server needs a bearer token\n', connection: 'close' };
    expect(await ask(port, { method: 'POST', headers }, 'x'.repeat(100)), given).toEqual(refused);
  }
  expect((await ask(port, { headers: { authorization: 'bearer secret' } })).status).toBe(200);
});

it('other transfer codings than chunked are refused', async () => {
  const { port } = await started({ chunkedBodies: true });
  const headers = { 'transfer-encoding': 'gzip, chunked' };
  expect(await ask(port, { method: 'POST', headers }, 'body')).toMatchObject({ status: 400 });
});

describe('bounds', () => {
  const POST = 'POST / HTTP/1.1\r\nHost: localhost\r\n';

  it('hold for bodies, which must declare their length', async () => {
    const { port } = await started();
    const post = { method: 'POST' };
    const headers = { 'content-length': 10 };
    expect(await ask(port, { ...post, headers }, '0123456789')).toMatchObject({ body: 'got 0123456789' });
    const larger = await ask(port, { ...post, headers: { 'content-length': 11 } }, '0123456789a');
    expect(larger).toMatchObject({ status: 413, connection: 'close' });
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await ask(port, { ...post, headers: chunked }, 'x')).status).toBe(411);
  });

  it('hold for headers', async () => {
    const { port } = await started();
    expect((await ask(port, { headers: { 'x-long': 'x'.repeat(10_000) } })).status).toBe(200);
    expect((await ask(port, { headers: { 'x-long': 'x'.repeat(20_000) } })).status).toBe(431);
  });

  test.each([
    ['headers', {}, 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
    ['a body', { requestTimeoutMs: 100 }, `${POST}Content-Length: 5\r\n\r\nab`],
    ['a request', {}, ''],
  ])('hold for the arrival of %s', async (_, limits, sent) => {
    const { port } = await started({ limits: { headersTimeoutMs: 100, ...limits } });
    const socket = await connected(port);
    socket.write(sent);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 408 /);
  });

  it('hold for connections', async () => {
    const { port } = await started({ limits: { maxConnections: 1 } });
    const first = await connected(port);
    first.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(first, 'data');
    const second = await connected(port);
    expect(await text(second)).toBe('');
    first.destroy();
  });
});

it('a handler that rejects is answered with 500, and why stays here', async () => {
  const { port } = await started({
    handle: async () => {
      throw new Error('secret of the server');
    },
  });
  expect(await ask(port)).toMatchObject({ status: 500, body: '' });
});

describe('a client that sends its whole body before it reads gets a refusal', () => {
  // More than the system buffers.
  const BODY = Buffer.alloc(16 * 1024 * 1024);

  async function refused(options: Parameters<typeof started>[0]): Promise<void> {
    const { port } = await started(options);
    const socket = await connected(port);
    const failed = once(socket, 'error').then(([error]) => error as Error);
    const headers = `Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: ${BODY.length}`;
    socket.write(`POST / HTTP/1.1\r\n${headers}\r\n\r\n`);
    const sent = new Promise((resolve) => socket.write(BODY, resolve));
    expect(await Promise.race([sent, failed])).not.toBeInstanceOf(Error);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 413 [^]*\nconnection: close\r/i);
  }

  it('by its headers', () => refused({}));

  it('by a route', async () => {
    const onRequest = () => Promise.reject(new HttpError(413, 'too much'));
    const app = await openApp({ addRoutes: (routes) => void routes.post('/', { onRequest }, () => '') });
    await refused({ ...app, limits: { maxBodyBytes: BODY.length } });
  });
});

describe('closing', () => {
  it('waits for open requests, and drops connections without one', async () => {
    const [asked, answered] = [gate(), gate()];
    const server = await started({
      handle: async (_incoming, response) => {
        asked.open();
        await answered.opened;
        response.end('answered');
      },
    });
    const socket = await connected(server.port);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await asked.opened;
    const closed = server.close();
    await expect(connected(server.port)).rejects.toThrow('ECONNREFUSED');
    answered.open();
    expect(await text(socket)).toMatch(/answered/);
    await closed;
  });

  it('drops open requests after a grace period', async () => {
    const asked = gate();
    const server = await started({
      limits: { closeGraceMs: 50 },
      handle: () => {
        asked.open();
        return new Promise(() => {});
      },
    });
    const answer = ask(server.port);
    answer.catch(() => {});
    await asked.opened;
    await server.close();
    await expect(answer).rejects.toThrow('socket hang up');
  });
});
