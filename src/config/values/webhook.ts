import { createSecretKey, type KeyObject } from 'node:crypto';
import { isLoopback } from '../../domain/access.ts';
import { WEBHOOK_SECRET } from '../settings/entries/environment.ts';
import type { Texts } from '../settings/setting.ts';
import { usageError } from '../usage-error.ts';
import { resolveCommand } from './paths.ts';

const MIN_CHARACTERS = 32;

/** Whether `onFinish` names a webhook rather than a program. */
export function isWebhook(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** Parses a program with its arguments, or the URL of a webhook. Failure('usage') for a URL that is not safe to use. */
export function parseOnFinish(texts: Texts, folder: string): readonly string[] {
  const [{ value, place }, ...more] = texts;
  if (!isWebhook(value)) {
    return resolveCommand(
      texts.map((text) => text.value),
      folder,
    );
  }
  if (more.length > 0) throw usageError(more[0]!.place, 'a webhook takes no arguments');
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null) throw usageError(place, 'this is not a valid URL');
  if (url.username !== '' || url.password !== '')
    throw usageError(place, 'a URL with a password would be logged');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw usageError(place, 'a webhook on another machine needs https://');
  }
  return [url.href];
}

/** Reads the secret that signs notices; null without a webhook. Failure('usage') if it is missing or too short. */
export function webhookSecretFor(onFinish: readonly string[], env: NodeJS.ProcessEnv): KeyObject | null {
  if (onFinish.length === 0 || !isWebhook(onFinish[0]!)) return null;
  const secret = env[WEBHOOK_SECRET.name] ?? '';
  if (secret.length >= MIN_CHARACTERS) return createSecretKey(secret, 'utf8');
  throw usageError(
    WEBHOOK_SECRET.name,
    `a webhook needs a secret of at least ${MIN_CHARACTERS} characters to sign with; openssl rand -hex 32 makes one`,
  );
}
