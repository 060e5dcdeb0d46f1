import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { started } from './echo-server.ts';

/** A server that echoes the bodies of requests and the bytes of upgraded connections. */
async function upgrading(given: Parameters<typeof started>[0] = {}) {
  const upgraded: Duplex[] = [];
  const server = await started({
    limits: { closeGraceMs: 50 },
    upgrade: (_request, socket, head) => {
      upgraded.push(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
      socket.unshift(head);
      socket.pipe(socket);
    },
    ...given,
  });
  return { ...server, upgraded };
}

/** Sends one request over a connection of its own and returns the connection. */
function send(port: number, { method = 'GET', headers = {}, body = '' }) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${method} / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

const websocket = { connection: 'upgrade', upgrade: 'websocket' };

describe('a WebSocket handshake', () => {
  it('hands over the connection, with what came after the headers', async () => {
    const { port } = await upgrading();
    const socket = send(port, { headers: websocket, body: 'first' });
    const reply = text(socket);
    socket.end(', second');
    expect(await reply).toMatch(/^HTTP\/1\.1 101 [^]*\r\n\r\nfirst, second$/);
  });

  test.each([
    ['without the token', 401, { token: 'secret' }, {}],
    ['for another host', 403, {}, { host: 'attacker.example' }],
    ['from another site', 403, {}, { origin: 'http://attacker.example' }],
  ])('%s is refused as a request is', async (_, status, given, headers) => {
    const { port, upgraded } = await upgrading(given);
    const reply = await text(send(port, { headers: { ...websocket, ...headers } }));
    expect(reply).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*connection: close[^]*\r\n\r\n.+\n$`));
    expect(upgraded).toEqual([]);
  });
});

it('a request that offers another protocol is an ordinary one', async () => {
  const { port, upgraded } = await upgrading();
  const offer = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AA' };
  const headers = { ...offer, 'Content-Length': '8' };
  const socket = send(port, { method: 'POST', headers, body: 'body' });
  await once(socket, 'ready');
  socket.write(' all');
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(first.toString()).toMatch(/^HTTP\/1\.1 200 [^]*got body all/);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  expect(upgraded).toEqual([]);
});

it('closing drops upgraded connections after the grace period', async () => {
  const server = await upgrading();
  const { port, upgraded } = server;
  const socket = send(port, { headers: websocket });
  await once(socket, 'data');
  const gone = once(socket, 'close');
  await server.close();
  await gone;
  expect(upgraded[0]!.destroyed).toBe(true);
});

it('a connection that is reset after its upgrade does not end the process', async () => {
  const { port, upgraded } = await upgrading();
  const socket = send(port, { headers: websocket });
  await once(socket, 'data');
  const gone = new Promise((resolve) => upgraded[0]!.once('close', resolve));
  socket.resetAndDestroy();
  await gone;
});

test.each(['h2c', 'websocket'])(
  'an upgrade to %s before earlier replies leaves no request open',
  async (upgrade) => {
    let begun = 0;
    let closed = 0;
    const { port } = await upgrading({
      handle: async (_request, response) => {
        begun++;
        await once(response, 'close');
        closed++;
      },
    });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).resume();
    const plain = 'GET / HTTP/1.1\r\nhost: localhost\r\n';
    socket.write(`${plain}\r\n${plain}\r\n${plain}connection: upgrade\r\nupgrade: ${upgrade}\r\n\r\n`);
    await once(socket, 'close');
    expect([begun, closed]).toEqual([2, 2]);
  },
);
