import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { EventStream } from '../../../src/dashboard/events/event-stream.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { serveDashboard } from '../../helpers/dashboard.ts';

/** As many as a dashboard serves at a time. */
const MAX_STREAMS = 64;

/** Far more than the buffers of a connection hold. */
const LARGE = 'x'.repeat(32 * 1024 * 1024);

it('serves a bounded number of event streams, and another one as soon as a client leaves', async () => {
  const { origin, cookie } = await serveDashboard({ out: await temporaryFolder() });
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const follow = (signal: AbortSignal): Promise<Response> =>
    fetch(`${origin}/api/events`, { headers: { cookie }, signal });
  const first = new AbortController();
  const others = Array.from({ length: MAX_STREAMS - 1 }, () => follow(leave.signal));
  const opened = await Promise.all([follow(first.signal), ...others]);
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await follow(leave.signal);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { code: 'TOO_MANY_REQUESTS' } });
  first.abort();
  await vi.waitFor(async () => expect((await follow(leave.signal)).status).toBe(200), { timeout: 10_000 });
});

/** A stream to a client that has asked for it and reads nothing. */
async function unreadStream(): Promise<{ response: ServerResponse; stream: EventStream; client: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  onTestFinished(() => void client.destroy());
  client.on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { response, stream: new EventStream(response, {}), client };
}

/** Timers that the test moves on. */
function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

it('drops a client that does not take an event within 30 s', async () => {
  const { response, stream } = await unreadStream();
  fakeTimers();
  stream.send({ kind: 'health', health: { guards: [], fleet: { redis: LARGE } } as never });
  expect(stream.isBusy).toBe(true);
  const closed = once(response, 'close');
  vi.advanceTimersByTime(29_999);
  expect(response.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  await closed;
  expect(response.destroyed).toBe(true);
});

it('keeps a client that takes an event late, and sends it the next one', async () => {
  const { response, stream, client } = await unreadStream();
  fakeTimers();
  stream.send({ kind: 'health', health: { guards: [], fleet: { redis: LARGE } } as never });
  const drained = once(response, 'drain');
  client.on('data', () => undefined).resume();
  await drained;
  expect(stream.isBusy).toBe(false);
  vi.advanceTimersByTime(60_000);
  expect(response.destroyed).toBe(false);
});
