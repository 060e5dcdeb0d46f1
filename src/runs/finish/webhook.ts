import { createHmac, type KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../domain/failure.ts';

const TRIES = 5;
/** Timeout per try, in milliseconds. */
const MAX_MS = 10_000;
/** Delay before the second try, in milliseconds; it doubles for each later one. */
const FIRST_WAIT_MS = 1000;

interface Post {
  readonly url: string;
  readonly secret: KeyObject;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Gives the time of a try, and waits for the next one. */
export interface Clock {
  now(): number;
  wait(ms: number, signal: AbortSignal): Promise<unknown>;
}

const CLOCK: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) => delay(ms, undefined, { signal }),
};

/**
 * Posts JSON to a webhook until it answers with a 2xx status: up to five tries of 10 s each. Redirects are not
 * followed. Failure('service') names the host and the last reason; rejects with an AbortError when aborted.
 */
export async function postWebhook({ url, secret, body, signal }: Post, clock = CLOCK): Promise<void> {
  let reason = '';
  for (let tries = 0; tries < TRIES; tries++) {
    if (tries > 0) await clock.wait(FIRST_WAIT_MS * 2 ** (tries - 1), signal);
    const headers = {
      'content-type': 'application/json',
      'guardsweep-signature': signatureOf(body, secret, Math.floor(clock.now() / 1000)),
    };
    try {
      const late = AbortSignal.timeout(MAX_MS);
      const aborted = AbortSignal.any([signal, late]);
      const reply = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: aborted });
      await reply.body?.cancel();
      if (reply.ok) return;
      reason = `status ${reply.status}`;
    } catch (error) {
      signal.throwIfAborted();
      const { code = 'no answer' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      reason = (error as Error).name === 'TimeoutError' ? `no answer within ${MAX_MS / 1000} s` : code;
    }
  }
  throw new Failure(
    'service',
    `the webhook at ${new URL(url).host} did not accept the notice: ${reason}, ${TRIES} times`,
  );
}

/**
 * Value of the signature header: the time in seconds since 1970, and the HMAC-SHA256 of that time, a dot, and the body.
 */
function signatureOf(body: string, secret: KeyObject, seconds: number): string {
  const hmac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${hmac}`;
}
