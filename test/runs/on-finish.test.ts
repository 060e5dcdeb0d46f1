import { createSecretKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, describe } from 'vitest';
import { parseOnFinish, webhookSecretFor } from '../../src/config/values/webhook.ts';
import { postWebhook } from '../../src/runs/finish/webhook.ts';
import { runOnFinish } from '../../src/runs/finish/on-finish.ts';
import { webhook, WEBHOOK_SECRET as SECRET } from '../helpers/webhook.ts';

const NOW_MS = Date.parse('2026-11-21T02:00:00.000Z');
const BODY = '{"run":"x"}';
const never = new AbortController().signal;

async function post(url: string, signal = never): Promise<number[]> {
  const waited: number[] = [];
  const clock = { now: () => NOW_MS, wait: async (ms: number) => waited.push(ms) };
  await postWebhook({ url, secret: createSecretKey(SECRET, 'utf8'), body: BODY, signal }, clock);
  return waited;
}

it('a webhook that fails twice is told at the third try, and can check who signed', async () => {
  const { url, received } = await webhook([500, 302, 204]);
  expect(await post(url)).toEqual([1000, 2000]);
  expect(received).toHaveLength(3);
  const { headers, body } = received[2]!;
  const page = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const example = /```js\n(.*?)```/s.exec(page)![1]!;
  const { verify } = (await import(`data:text/javascript,${encodeURIComponent(example)}`)) as {
    readonly verify: (header: string, body: string, secret: string, now: number) => boolean;
  };
  const header = headers['guardsweep-signature'] as string;
  const seconds = NOW_MS / 1000;
  expect(verify(header, body, SECRET, seconds)).toBe(true);
  expect(verify(header, `${body} `, SECRET, seconds)).toBe(false);
  expect(verify(header, body, `${SECRET}x`, seconds)).toBe(false);
  expect(verify(header, body, SECRET, seconds + 301)).toBe(false);
});

it('a webhook that never accepts is given up after five tries', async () => {
  const { url, received } = await webhook([503]);
  await expect(post(url)).rejects.toThrow(/status 503, 5 times/);
  expect(received).toHaveLength(5);
  await expect(post(url, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
});

it('a webhook is on this machine or encrypted, and has a secret', () => {
  const parsed = (value: string) => parseOnFinish([{ value, place: '--on-finish' }], '/');
  expect(parsed('https://example.org/hook')).toEqual(['https://example.org/hook']);
  expect(parsed('http://127.0.0.1:9/')).toEqual(['http://127.0.0.1:9/']);
  expect(() => parsed('http://example.org/')).toThrow(/needs https/);
  expect(() => parsed('https://me:word@example.org/')).toThrow(/would be logged/);
  expect(() => webhookSecretFor(['https://example.org/'], {})).toThrow(/GUARDSWEEP_WEBHOOK_SECRET/);
  expect(webhookSecretFor(['true'], {})).toBeNull();
});

const base = { cwd: '/', env: process.env, about: {}, input: '', signal: never };

describe('the command of --on-finish', () => {
  it('is ended when it takes too long', async () => {
    const command = [process.execPath, '-e', 'setInterval(() => {}, 1000)'];
    const message = expect.stringContaining('was ended after 0.05 s') as string;
    const told = runOnFinish({ ...base, command, timeoutMs: 50 });
    await expect(told).rejects.toMatchObject({ kind: 'service', message });
  });

  it('cannot fill memory with what it says', async () => {
    const command = [process.execPath, '-e', 'process.stderr.write("x".repeat(1e7), () => process.exit(7))'];
    const failure = await runOnFinish({ ...base, command }).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ message: expect.stringContaining('ended with status 7') as string });
    expect((failure!.cause as string).length).toBe(4096);
  });
});
