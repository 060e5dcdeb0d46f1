import { expect, it } from 'vitest';
import { RedisHeadroom, readMemory } from '../../../src/fleet/redis/redis-memory.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';

const never = new AbortController().signal;
const MIB = 1024 * 1024;

it('feeding has half of the memory that Redis may use', async () => {
  const link = await linkForTest(await redisForTest({ settings: ['--maxmemory', '32mb'] }));
  const { maxBytes } = await readMemory(link, never);
  expect(maxBytes).toBe(32 * MIB);
  const memory = new RedisHeadroom(link);
  let fed = 0;
  // What was fed is counted before Redis shows it.
  while (fed < 32 && (await memory.hasRoom(MIB / 2, never))) {
    await link.redis.set(`shard-${fed}`, Buffer.alloc(MIB / 2));
    fed++;
  }
  // Less than half, for the command on its way and the connection count as well.
  expect(fed).toBeGreaterThan(16);
  expect((await readMemory(link, never)).usedBytes).toBeLessThan(18 * MIB);
});
