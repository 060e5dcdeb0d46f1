import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { EventStream } from '../../../src/dashboard/events/event-stream.ts';

it('sends nothing after its end, however late the client takes it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const asked = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const failures: unknown[] = [];
  response.on('error', (error) => failures.push(error));
  const stream = new EventStream(response, {});
  stream.send({ kind: 'health', health: { guards: [], fleet: null } });
  stream.end();
  stream.end();
  stream.send({ kind: 'health', health: { guards: [], fleet: null } });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  expect(text.match(/event: health/g)).toHaveLength(1);
  expect(failures).toEqual([]);
});
