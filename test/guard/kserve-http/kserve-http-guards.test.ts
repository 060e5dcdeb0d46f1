import { describe, expect, test } from 'vitest';
import {
  closeAfterEach,
  connect,
  conversation,
  image,
  judge,
  kserveHttpServer,
  prompt,
  prompts,
  readingOf,
  refusalOf,
  verdict,
} from '../../helpers/guards/guard-pool.ts';
import type { KserveHttpOptions } from '../../helpers/guards/kserve-http-server.ts';

closeAfterEach();

const CONVERSATION = conversation([
  ['user', 'hello'],
  ['assistant', 'é'],
]);

const refusal = async (options: KserveHttpOptions) => refusalOf([await kserveHttpServer(options)]);

describe.each(['triton', 'mlserver'] as const)('as %s', (form) => {
  test('judges in batches, with the token, below the base path', async () => {
    const server = await kserveHttpServer({ form, path: '/team/guard' });
    const pool = await connect([server], { token: () => 'secret' });
    const others = [prompt('é "x"'), image('i', 'caption'), CONVERSATION];
    const outcomes = await judge(pool, [...prompts(100), ...others]);
    expect(new Set(outcomes.map((outcome) => verdict(outcome).score)).size).toBe(103);
    expect(verdict(outcomes.at(-1)).cacheUsage).toEqual([1, 2, 3, 4, 5, 6, 7, -8]);
    expect(server.seen.flatMap(({ contents }) => contents)).toEqual(
      expect.arrayContaining(['é "x"', Buffer.from('i').toString('base64'), 'é']),
    );
    const rows = server.seen.map(({ contents }) => contents.length);
    expect(Math.max(...rows)).toBe(form === 'triton' ? 64 : 16);
    const { headers } = server.seen[0]!;
    expect(headers).toMatchObject({ authorization: 'Bearer secret', 'accept-encoding': 'identity' });
    expect(headers['content-type']).toBe(form === 'triton' ? 'application/octet-stream' : 'application/json');
  });

  test('reports its fingerprint, which can be expected', async () => {
    const server = await kserveHttpServer({ form });
    const reading = await readingOf(server);
    expect(reading).toMatchObject({
      kind: 'triton',
      modelVersion: '1',
      maxBatchSize: form === 'triton' ? 64 : 16,
      instances: form === 'triton' ? 2 : null,
    });
    const { id } = reading.fingerprint!;
    const pool = await connect([server], { expectFingerprint: id });
    expect(verdict((await judge(pool, [prompt('a')]))[0])).toMatchObject({ fingerprint: id });
    const other = connect([server], { expectFingerprint: `sha256:${'a'.repeat(64)}` });
    await expect(other).rejects.toMatchObject({ kind: 'service' });
  });
});

describe('the start', () => {
  test.each<[path: string, status: number, says: RegExp]>([
    ['/v2/health/ready', 404, /no such path: name the base address of the guard, before \/v1 or \/v2/],
    ['/v2/health/ready', 302, /redirects elsewhere/],
    ['/v2/models/guard/config', 403, /not authorised/],
  ])('%s answered with %i is a failure at once', async (path, status, says) => {
    expect(await refusal({ get: (asked) => (asked === path ? { status } : undefined) })).toMatch(says);
  });

  test('what is not JSON is no guard', async () => {
    const get: KserveHttpOptions['get'] = (path) =>
      path === '/v2/models/guard' ? { status: 200, body: '<html>' } : undefined;
    expect(await refusal({ form: 'mlserver', get })).toContain('does not speak the protocol of a guard');
  });
});
