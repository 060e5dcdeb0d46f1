import { describe, expect, test } from 'vitest';
import {
  connect,
  conversation,
  image,
  judge,
  kserveHttpServer,
  prompt,
  prompts,
  readingOf,
  verdict,
} from '../../helpers/guards/guard-pool.ts';

const CONVERSATION = conversation([
  ['user', 'hello'],
  ['assistant', 'é'],
]);

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
