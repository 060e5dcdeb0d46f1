import { expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import type { OpenGuards } from '../../src/guard/pool/guard-session.ts';
import { LateGuards } from '../../src/guard-setup/late-guards.ts';
import { closeAfterEach, connect, guard, judge, prompts } from '../helpers/guards/guard-pool.ts';

closeAfterEach();

function lateGuards(open: OpenGuards, said: string[] = []): LateGuards {
  const late = new LateGuards({ urls: ['grpc://gpu-1:8001'], open, say: (line) => said.push(line) });
  onTestFinished(() => late.close());
  return late;
}

it('what is asked of guards that are not connected yet waits for them', async () => {
  const pool = await connect([await guard()]);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const late = lateGuards(async () => {
    await released;
    return { pool, died: new AbortController().signal, close: () => pool.close() };
  });
  expect(late.status()).toMatchObject([{ name: 'grpc://gpu-1:8001', state: { name: 'out' } }]);
  await expect(late.openStream({} as never)).rejects.toThrow('no guard is ready');
  const states: string[] = [];
  late.onStateChange((endpoints) => states.push(...endpoints.map(({ state }) => state.name)));
  const outcomes = judge(late, prompts(3));
  release();
  expect(await outcomes).toHaveLength(3);
  expect(states).toEqual(['ready']);
});

it('a guard that cannot be reached is told of once, and tried again', async () => {
  const said: string[] = [];
  const late = lateGuards(() => Promise.reject(new Failure('service', 'gpu-1 is away')), said);
  await new Promise<void>((resolve) => late.onStateChange(() => resolve()));
  expect(said).toEqual(['gpu-1 is away; trying again']);
  expect(late.status()).toMatchObject([{ state: { detail: 'gpu-1 is away' } }]);
  expect(late.died.aborted).toBe(false);
});

it('a setting that is wrong, and an embedded guard that dies, end the server', async () => {
  const wrong = lateGuards(() => Promise.reject(new Failure('usage', 'no such key')));
  await new Promise((resolve) => wrong.died.addEventListener('abort', resolve));
  expect(wrong.died.reason).toMatchObject({ message: 'no such key' });
  const pool = await connect([await guard()]);
  const died = new AbortController();
  const late = lateGuards(async () => ({ pool, died: died.signal, close: () => pool.close() }));
  await new Promise<void>((resolve) => late.onStateChange(() => resolve()));
  died.abort(new Failure('internal', 'the embedded guard died'));
  expect(late.died.reason).toMatchObject({ message: 'the embedded guard died' });
});
