import { given, type Sources, valueOf } from './settings/given.ts';
import type { Setting } from './settings/setting.ts';

/**
 * How long to wait for Redis and guards at the start, in milliseconds: where only `maxWait` is given, as long as
 * later, so that a process that is to be kept running need not be restarted until they are.
 */
export function resolveStartWait(
  startWait: Setting<number>,
  maxWait: Setting<number>,
  from: Sources,
): Promise<number> {
  const isLikeLater = given(startWait, from) === null && given(maxWait, from) !== null;
  return valueOf(isLikeLater ? maxWait : startWait, from);
}
