import type { RedisLink } from '../link.ts';
import { withKey } from './own-type.ts';

/** Max members that are returned; a fleet has a few hundred processes and runs. */
const MAX_MEMBERS = 1024;
const MAX_MEMBER_BYTES = 256;
const SCAN_COUNT = 512;

/** One SSCAN step. Removes members that are too long for a name without returning them. */
const STEP = `
local reply = redis.call('SSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local fit = {}
for _, member in ipairs(reply[2]) do
  if #member <= tonumber(ARGV[3]) then fit[#fit + 1] = member
  else redis.call('SREM', KEYS[1], member) end
end
return {reply[1], fit}`;

/**
 * The names in one of our sets, sorted. Removes members that are not names according to `isName`. Of a set with more than
 * MAX_MEMBERS names, only some are returned; as callers remove stale ones, later calls return the others.
 */
export async function readMembers(
  link: RedisLink,
  key: string,
  isName: (member: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const set = { key, type: 'set' } as const;
  const names = new Set<string>();
  let cursor = '0';
  do {
    const step = (): Promise<unknown> => link.redis.eval(STEP, 1, key, cursor, SCAN_COUNT, MAX_MEMBER_BYTES);
    const [next, members] = (await withKey(link, set, step, signal)) as [string, string[]];
    const others = members.filter((member) => !isName(member));
    if (others.length > 0) {
      await withKey(link, set, () => link.redis.srem(key, ...others), signal);
      link.skipped.skip(key, 'contained malformed names; removed');
    }
    for (const member of members) if (names.size < MAX_MEMBERS && isName(member)) names.add(member);
    cursor = next;
  } while (cursor !== '0' && names.size < MAX_MEMBERS);
  return [...names].sort();
}
