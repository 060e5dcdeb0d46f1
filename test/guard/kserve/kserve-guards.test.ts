import { describe, expect, test } from 'vitest';
import {
  connect,
  connected,
  judge,
  kserveHttpServer,
  kserveServer,
  readingOf,
} from '../../helpers/guards/guard-pool.ts';
import { expectOnlyFailure, failure, verdict } from '../../helpers/guards/outcomes.ts';
import { conversation, image, prompt, prompts } from '../../helpers/guards/requests.ts';
import type { Metadata } from '../../helpers/guards/kserve-server.ts';

const HELLO = ['user', 'hello'] as const;

describe('a server without ModelConfig', () => {
  test.each([
    { declared: 'batched', replies: 'raw', maxBatchSize: 16 },
    { declared: 'singles', replies: 'typed', maxBatchSize: 0 },
  ] as const)(
    'judges as its metadata declares: $declared, replies $replies',
    async ({ maxBatchSize, ...form }) => {
      const server = await kserveServer(form);
      expect(await readingOf(server)).toMatchObject({
        kind: 'triton',
        maxBatchSize,
        instances: null,
        fingerprint: { artifacts: { 'model.bin': expect.any(String) as string } },
      });
      const pool = await connect([server]);
      const outcomes = await judge(pool, [...prompts(100), image('i'), conversation([HELLO])]);
      const judgements = outcomes.map(verdict);
      expect(new Set(judgements.map(({ score }) => score)).size).toBe(102);
      expect(judgements.some(({ subcategoryFlags }) => subcategoryFlags?.[0] === 'hate')).toBe(true);
      expect(judgements.at(-1)!.cacheUsage).toEqual([1, 2, 3, 4, 5, 6, 7, -8]);
      const rows = Math.max(...server.seen.map((contents) => contents.length));
      expect(rows).toBe(Math.max(1, maxBatchSize));
    },
  );

  test('may declare more inputs and outputs', async () => {
    const more = { name: 'MORE', datatype: 'FP64', shape: [3] };
    const changeMetadata = ({ inputs, outputs }: Metadata): Metadata => {
      return { inputs: [...inputs, more], outputs: [...outputs, more] };
    };
    (await judge(await connect([await kserveServer({ changeMetadata })]), prompts(3))).map(verdict);
  });
});

test('an item over the message limit of the server names that limit, and the others are judged', async () => {
  const server = await kserveServer({ maxMessageBytes: 64 * 1024 });
  const large = [100_000, 30_000, 40_000].map((length) => prompt('x'.repeat(length)));
  const outcomes = await judge(await connect([server]), [...prompts(20), ...large]);
  expectOnlyFailure(outcomes, 20, 'ITEM_TOO_LARGE');
  expect(failure(outcomes[20]).error.message).toContain('message size limit');
});

describe.each(['triton', 'mlserver'] as const)('a server over HTTP, as %s,', (form) => {
  const isTriton = form === 'triton';

  test('judges in batches, with the token, below the base path', async () => {
    const token = () => 'secret';
    const { server, pool } = await connected(kserveHttpServer, { form, path: '/team/guard' }, { token });
    const others = [prompt('é "x"'), image('i', 'caption'), conversation([HELLO, ['assistant', 'é']])];
    const outcomes = await judge(pool, [...prompts(100), ...others]);
    expect(new Set(outcomes.map((outcome) => verdict(outcome).score)).size).toBe(103);
    expect(verdict(outcomes.at(-1)).cacheUsage).toEqual([1, 2, 3, 4, 5, 6, 7, -8]);
    expect(server.seen.flatMap(({ contents }) => contents)).toEqual(
      expect.arrayContaining(['é "x"', Buffer.from('i').toString('base64'), 'é']),
    );
    const rows = server.seen.map(({ contents }) => contents.length);
    expect(Math.max(...rows)).toBe(isTriton ? 64 : 16);
    const { headers } = server.seen[0]!;
    expect(headers).toMatchObject({ authorization: 'Bearer secret', 'accept-encoding': 'identity' });
    expect(headers['content-type']).toBe(isTriton ? 'application/octet-stream' : 'application/json');
  });

  test('reports its fingerprint, which can be expected', async () => {
    const server = await kserveHttpServer({ form });
    const reading = await readingOf(server);
    const limits = { maxBatchSize: isTriton ? 64 : 16, instances: isTriton ? 2 : null };
    expect(reading).toMatchObject({ kind: 'triton', modelVersion: '1', ...limits });
    const { id } = reading.fingerprint!;
    const pool = await connect([server], { expectFingerprint: id });
    expect(verdict((await judge(pool, [prompt('a')]))[0])).toMatchObject({ fingerprint: id });
    const other = connect([server], { expectFingerprint: `sha256:${'a'.repeat(64)}` });
    await expect(other).rejects.toMatchObject({ kind: 'service' });
  });
});
