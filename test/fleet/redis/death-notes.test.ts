import { createSecretKey } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { DeathNotes, notedShard } from '../../../src/fleet/redis/death-notes.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { FleetSeal } from '../../../src/queue/redis/sealing/fleet-seal.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';

const RUN = '20261121T020000Z-test-ab12';
const [NAME, OTHER] = [0, 1].map((shard) => notedShard(RUN, { pass: 1, shard })) as [string, string];
const NOTHING = { ofShard: 0, ofItem: new Map() };
const signal = new AbortController().signal;
setMaxListeners(0, signal);

const sealed = async (said: string[] = []): Promise<RedisLink> =>
  linkForTest(await redisForTest(), said, new FleetSeal(createSecretKey('a'.repeat(64), 'utf8')));
const keyOf = (link: RedisLink, name = NAME): string => link.key('deaths', name);

describe('with a fleet key', () => {
  it('notes of deaths that no worker sealed count for nothing', async () => {
    const said: string[] = [];
    const link = await sealed(said);
    const plain = await linkForTest({ address: link.address });
    const forger = new DeathNotes(plain, 'forger');
    const notes = new DeathNotes(link, 'me');
    for (let deaths = 0; deaths < 5; deaths++) await forger.blame(NAME, [7], signal);
    expect(await notes.begin(NAME, signal)).toEqual(NOTHING);
    await link.redis.hset(keyOf(link), { deaths: '9', 'deaths:7': '9', 'has:gone': '1', 'items:gone': '7' });
    expect(await notes.begin(NAME, signal)).toEqual(NOTHING);
    expect(said).toHaveLength(1);
  });

  it('a note opens in its own shard and field alone', async () => {
    const link = await sealed();
    const notes = new DeathNotes(link, 'me');
    await notes.blame(NAME, [7], signal);
    const genuine = await link.redis.hgetall(keyOf(link));
    await link.redis.hset(keyOf(link, OTHER), genuine);
    expect(await notes.begin(OTHER, signal)).toEqual(NOTHING);
    const [value] = Object.values(genuine);
    await link.redis.hset(keyOf(link), `death:${'0'.repeat(24)}:8`, value!);
    expect(await notes.begin(NAME, signal)).toEqual(NOTHING);
  });

  it('a note that is put back again and again counts once', async () => {
    const link = await sealed();
    const notes = new DeathNotes(link, 'me');
    await new DeathNotes(link, 'gone').begin(NAME, signal);
    await new DeathNotes(link, 'gone').beginItems(NAME, [7, 8], signal);
    const genuine = await link.redis.hgetall(keyOf(link));
    for (let times = 0; times < 6; times++) {
      await link.redis.hset(keyOf(link), genuine);
      const deaths = { ofShard: 1, ofItem: new Map([7, 8].map((seq) => [seq, 1])) };
      expect(await notes.begin(NAME, signal)).toEqual(deaths);
    }
  });

  it('deaths are counted, and cleared of an item that did no harm', async () => {
    const link = await sealed();
    const notes = new DeathNotes(link, 'me');
    await notes.blame(NAME, [7, 8], signal);
    await notes.blame(NAME, [7], signal);
    await notes.begin(NAME, signal);
    await notes.beginItems(NAME, [7], signal);
    await notes.endItems(NAME, [7], signal);
    expect(await notes.begin(NAME, signal)).toEqual({ ofShard: 2, ofItem: new Map([[8, 1]]) });
  });

  it('four deaths of each of 256 items are not too many to be read', async () => {
    const link = await sealed();
    const notes = new DeathNotes(link, 'me');
    for (let seq = 0; seq < 256; seq++) {
      for (let deaths = 0; deaths < 4; deaths++) await notes.blame(NAME, [seq], signal);
    }
    const { ofShard, ofItem } = await notes.begin(NAME, signal);
    expect([ofShard, ofItem.size, ofItem.get(255)]).toEqual([1024, 256, 4]);
  });
});
