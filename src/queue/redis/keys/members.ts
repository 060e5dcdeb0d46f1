import type { RedisLink } from '../link.ts';
import { withKey } from './own-type.ts';

/** Members that are read, at most: a fleet has some hundred processes and runs. */
const MAX_MEMBERS = 1024;
const MAX_MEMBER = 256;
const AT_A_TIME = 512;

/** One step through a set; members that are too long for a name leave it unread. */
const STEP = `
local reply = redis.call('SSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local fit = {}
for _, member in ipairs(reply[2]) do
  if #member <= tonumber(ARGV[3]) then fit[#fit + 1] = member
  else redis.call('SREM', KEYS[1], member) end
end
return {reply[1], fit}`;

/**
 * The names in a set of ours, sorted; those that are none, by `isName`, are removed. Of a set with more than a
 * thousand names some are given: as those that nobody stands for are removed by the caller, the others come to light.
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
    const step = (): Promise<unknown> => link.redis.eval(STEP, 1, key, cursor, AT_A_TIME, MAX_MEMBER);
    const [next, members] = (await withKey(link, set, step, signal)) as [string, string[]];
    const others = members.filter((member) => !isName(member));
    if (others.length > 0) {
      await withKey(link, set, () => link.redis.srem(key, ...others), signal);
      link.skipped.skip(key, 'held names of an unknown form; removed');
    }
    for (const member of members) if (names.size < MAX_MEMBERS && isName(member)) names.add(member);
    cursor = next;
  } while (cursor !== '0' && names.size < MAX_MEMBERS);
  return [...names].sort();
}
