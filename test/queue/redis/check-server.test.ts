import { expect, it } from 'vitest';
import { parseRedisUrl } from '../../../src/config/values/redis-url.ts';
import { checkServer } from '../../../src/queue/redis/check-server.ts';
import { freePort } from '../../helpers/free-port.ts';
import { redisForTest } from '../../helpers/redis/redis.ts';

const never = new AbortController().signal;

const check = (url: string): Promise<void> =>
  checkServer(parseRedisUrl({ value: url, place: '--redis' }, {}), never, 1000);

const PASSWORD = '--requirepass secret';
const OTHER_KEYS = '--user other on >hidden ~{other}:* +@all';

// A server by its settings, the user and the path of the URL, and what is wrong.
it.each([
  [PASSWORD, ':wrong-word@', '', 'does not accept the user or password in the URL'],
  [PASSWORD, '', '', 'wants a password'],
  ['--maxmemory-policy allkeys-lru', '', '', 'set it to noeviction'],
  ['--databases 4', '', '/4', 'does not have the database in the URL'],
  [OTHER_KEYS, 'other:hidden@', '', 'use the keys'],
  ['--replicaof 127.0.0.1 1', '', '', 'is a replica'],
])('a server with %j is refused (user %j, path %j): %s', async (settings, user, path, words) => {
  const { port } = await redisForTest({ tcp: true, settings: settings.split(' ') });
  const refused = check(`redis://${user}127.0.0.1:${port}${path}`);
  await expect(refused).rejects.toMatchObject({
    kind: 'service',
    message: expect.stringContaining(words) as string,
  });
  await expect(refused).rejects.not.toThrow(/wrong-word|hidden/);
});

it('a server that is not there is named in one line, without the password', async () => {
  const at = `127.0.0.1:${await freePort()}`;
  const message = `Redis at redis://${at} (--redis) does not answer within 1 s`;
  await expect(check(`redis://:secret@${at}`)).rejects.toMatchObject({ kind: 'service', message });
});
