import type { RedisLink } from '../../../../src/queue/redis/link.ts';

/** Ways in which a key can hold what none of our processes writes. */
export const NONSENSE: Readonly<Record<string, (link: RedisLink, key: string) => Promise<unknown>>> = {
  'no JSON': ({ redis }, key) => redis.set(key, '{"run":'),
  'JSON of another form': ({ redis }, key) => redis.set(key, '[1,null,{"epoch":"many"}]'),
  'an empty object': ({ redis }, key) => redis.set(key, '{}'),
  null: ({ redis }, key) => redis.set(key, 'null'),
  'a megabyte': ({ redis }, key) => redis.set(key, `"${'x'.repeat(1024 * 1024)}"`),
  'deep nesting': ({ redis }, key) => redis.set(key, '['.repeat(60_000)),
  'bytes that are no text': ({ redis }, key) => redis.set(key, Buffer.from([0, 255, 254, 27, 10])),
  'an escape sequence': ({ redis }, key) => redis.set(key, '\x1b[2J\n\u202e'),
  'a list': ({ redis }, key) => redis.multi().del(key).rpush(key, 'x', 'y').exec(),
  'a hash': ({ redis }, key) =>
    redis.multi().del(key).hset(key, { x: 'y', deaths: 'many', 'has:gone': '1', 'deaths:x': '9' }).exec(),
  'a set of hostile names': ({ redis }, key) =>
    redis
      .multi()
      .del(key)
      .sadd(key, '../../etc', '*', '[a-z]?', 'a\0b', 'a\nb', '\x1b[31m', 'x'.repeat(100_000), '')
      .exec(),
  'a sorted set': ({ redis }, key) => redis.multi().del(key).zadd(key, 1, 'x').exec(),
};
