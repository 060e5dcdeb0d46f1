import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { gate } from '../helpers/guards/gate.ts';
import { connect, guard, restGuard, stateOf } from '../helpers/guards/guard-pool.ts';
import type { RestScripted, SeenModeration } from '../helpers/guards/rest-guard.ts';
import type { SeenRequest } from '../helpers/guards/scripted-guard.ts';
import { settled } from '../helpers/settled.ts';
import { codeOf, gatewayTo, send, sendText, serve } from './serve.ts';

/** A guard that answers texts only once it is opened; the harmless one of its client it answers at once. */
function gated() {
  const opening = gate();
  let arrived = 0;
  return {
    open: () => opening.open(),
    script: async ({ inputs }: SeenRequest) => {
      if (!inputs['TEXT']!.some((text) => text.startsWith('held'))) return;
      arrived += inputs['TEXT']!.length;
      await opening.opened;
    },
    /** Resolves when so many texts have arrived. */
    holds: (count: number) => settled(() => arrived >= count),
  };
}

it('more than may be worked on or wait are refused at once, and told when to come back (C-718, C-811)', async () => {
  const { open, script, holds } = gated();
  const origin = await gatewayTo(await guard({ script }), { maxConcurrency: 2 });
  const held = [1, 2].map((at) => sendText(origin, `held ${at}`));
  await holds(2);
  const others = Array.from({ length: 6 }, (_, at) => sendText(origin, `text ${at}`));
  const refused = await Promise.any(others);
  expect(codeOf(refused)).toBe('429 TOO_MANY_REQUESTS');
  expect(refused.headers.get('retry-after')).toBe('1');
  open();
  const statuses = (await Promise.all(others)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 200, 429, 429, 429, 429]);
  for (const { status } of await Promise.all(held)) expect(status).toBe(200);
});

it('a guard that dies in mid request: 503 when it does not come back, verdicts again when it does', async () => {
  const { script, holds } = gated();
  const dying = await guard({ script });
  const pool = await connect([dying], { maxWaitMs: null });
  const { origin } = await serve(pool, { guardGraceMs: 100 });
  const held = sendText(origin, 'held');
  await holds(1);
  dying.kill();
  const reply = await held;
  expect(codeOf(reply)).toBe('503 GUARD_UNAVAILABLE');
  expect(reply.headers.get('retry-after')).toBe('5');
  expect(codeOf(await sendText(origin, 'text'))).toBe('503 GUARD_UNAVAILABLE');
  expect(codeOf(await send(`${origin}/readyz`))).toBe('503 GUARD_UNAVAILABLE');
  expect((await send(`${origin}/healthz`)).status).toBe(200);
  const ready = stateOf(pool, 'ready');
  await guard({ port: dying.port });
  await ready;
  expect((await sendText(origin, 'text')).status).toBe(200);
  expect((await send(`${origin}/readyz`)).status).toBe(200);
});

it('a guard that comes back in time answers what it left undone', async () => {
  const { script, holds } = gated();
  const dying = await guard({ script });
  const pool = await connect([dying], { maxWaitMs: null });
  const { origin } = await serve(pool);
  const held = sendText(origin, 'held');
  await holds(1);
  dying.kill();
  await guard({ port: dying.port });
  expect((await held).status).toBe(200);
});

it('a client that goes away takes its request from the guard, and its place', async () => {
  const { script, holds } = gated();
  const held = await guard({ script });
  const origin = await gatewayTo(held, { maxConcurrency: 1 });
  const leaving = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const given = { method: 'POST', headers, body: '{"text":"held"}', signal: leaving.signal };
  const asked = fetch(`${origin}/v1/moderations/text`, given);
  await holds(1);
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await held.seen.at(-1)!.cancelled;
  expect((await sendText(origin, 'text')).status).toBe(200);
  expect(await (await fetch(`${origin}/metrics`)).text()).toContain('status="aborted"} 1');
});

it('bodies that do not arrive are given up, and make room', async () => {
  const origin = await gatewayTo(await guard(), { timeoutMs: 1000, maxConcurrency: 2 });
  const stuck = await Promise.all([
    sendRaw(origin, `content-type: application/json\r\ncontent-length: 100\r\n\r\n{"text":`),
    sendRaw(origin, 'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"tex'),
  ]);
  for (const reply of stuck) expect(reply).toMatch(/^HTTP\/1\.1 (408|504) /);
  expect((await sendText(origin, 'text')).status).toBe(200);
});

it('open requests are finished before the gateway is closed, or answered when there is no time', async () => {
  const { open, script, holds } = gated();
  const pool = await connect([await guard({ script })]);
  const first = await serve(pool);
  const finished = sendText(first.origin, 'held 1');
  await holds(1);
  const closed = first.close(new AbortController().signal);
  await expect(sendText(first.origin, 'text')).rejects.toThrow();
  const second = await serve(pool);
  const cut = sendText(second.origin, 'held 2');
  await holds(2);
  await second.close(AbortSignal.abort());
  expect(codeOf(await cut)).toBe('503 GUARD_UNAVAILABLE');
  open();
  expect((await finished).status).toBe(200);
  await closed;
});

/** Sends the headers of a request and a part of its body. Resolves to all that is answered until the connection ends. */
async function sendRaw(origin: string, rest: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connectSocket(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  let answered = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answered += text));
  socket.on('error', () => {});
  socket.write(`POST /v1/moderations/text HTTP/1.1\r\nhost: ${hostname}\r\n${rest}`);
  await once(socket, 'close');
  return answered;
}

it('a request that a limit holds up for too long is told when to come back, one that takes too long is not', async () => {
  const script = async ({ content }: SeenModeration): Promise<RestScripted> => {
    if (content === 'limited') return { status: 429 };
    if (content === 'slow') await new Promise(() => {});
    return undefined;
  };
  for (const [text, answer, retryAfter, timeoutMs] of [
    ['limited', '429 GUARD_OVERLOADED', '5', 1000],
    ['slow', '504 TIMEOUT', null, 300],
  ] as const) {
    const origin = await gatewayTo(await restGuard({ script }), { timeoutMs });
    const reply = await sendText(origin, text);
    expect(codeOf(reply)).toBe(answer);
    expect(reply.headers.get('retry-after')).toBe(retryAfter);
  }
});
