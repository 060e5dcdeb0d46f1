import { expect, it } from 'vitest';
import { parseRedisUrl } from '../../../src/config/values/redis-url.ts';
import { checkServer } from '../../../src/queue/redis/check-server.ts';
import { freePort } from '../../helpers/free-port.ts';
import { redisForTest } from '../../helpers/redis/redis.ts';
import { slowPathTo } from '../../helpers/slow-path.ts';

const never = new AbortController().signal;

const check = (url: string, waitMs: number): Promise<void> =>
  checkServer(parseRedisUrl({ value: url, place: '--redis' }, {}), never, waitMs);

const PASSWORD = '--requirepass secret';
const OTHER_KEYS = '--user other on >hidden ~{other}:* +@all';

// A server by its settings, the user and the path of the URL, and what is wrong.
it.each([
  [PASSWORD, ':wrong-word@', '', 'does not accept the user or password in the URL'],
  [PASSWORD, '', '', 'wants a password'],
  ['--maxmemory-policy allkeys-lru', '', '', 'set it to noeviction'],
  ['--databases 4', '', '/4', 'does not have the database in the URL'],
  [OTHER_KEYS, 'other:hidden@', '', 'use the keys'],
])('a server with %j is refused (user %j, path %j): %s', async (settings, user, path, words) => {
  const { port } = await redisForTest({ tcp: true, settings: settings.split(' ') });
  const refused = check(`redis://${user}127.0.0.1:${port}${path}`, 60_000);
  await expect(refused).rejects.toThrow(words);
  await expect(refused).rejects.not.toThrow(/wrong-word|hidden/);
});

it('a replica is refused as one, even if it does not answer the last try in time', async () => {
  const { port } = await redisForTest({ tcp: true, settings: ['--replicaof', '127.0.0.1', '1'] });
  // A try takes 0.8 s, and the last one has 0.5 s.
  const refused = check(`redis://127.0.0.1:${await slowPathTo(port, 150)}`, 5500);
  await expect(refused).rejects.toThrow('is a replica');
});

it('a server that is not there is named in one line, without the password', async () => {
  const at = `127.0.0.1:${await freePort()}`;
  const message = `Redis at redis://${at} (--redis) does not answer within 1 s`;
  await expect(check(`redis://:secret@${at}`, 1000)).rejects.toMatchObject({ kind: 'service', message });
});
