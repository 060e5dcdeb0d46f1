import { given, type Sources, valueOf } from './settings/given.ts';
import type { Setting } from './settings/setting.ts';

/**
 * Resolves how long to wait for Redis and guards at the start, in milliseconds. Defaults to `maxWait` if only that is
 * given, so a supervised process need not be restarted until they are available.
 */
export function resolveStartWait(
  startWait: Setting<number>,
  maxWait: Setting<number>,
  from: Sources,
): Promise<number> {
  const isLikeLater = given(startWait, from) === null && given(maxWait, from) !== null;
  return valueOf(isLikeLater ? maxWait : startWait, from);
}
