import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BATCH_FILES } from '../../../src/guard/openai/batch/request-files.ts';
import { RequestFiles } from '../../../src/guard/openai/batch/request-files.ts';
import { keysIn } from '../../../src/guard/openai/batch/request-id.ts';
import { ResultFiles } from '../../../src/guard/openai/batch/result-files.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { requestLines } from '../../helpers/guards/answered-batch.ts';

const PATH = '/v1/chat/completions';
const call = { timeoutMs: 60_000, signal: new AbortController().signal };

async function written(bodies: Iterable<object>) {
  const folder = await temporaryFolder();
  const requests = new RequestFiles(folder);
  const posts: Promise<unknown>[] = [];
  for (const body of bodies) posts.push(requests.post(PATH, body, call));
  await Promise.all(posts);
  const files = await requests.finish(BATCH_FILES.keys);
  const keys = [...keysIn(await readFile(join(folder, BATCH_FILES.keys)))];
  return { folder, files, keys };
}

async function opened(keys: readonly string[], text: string | Buffer): Promise<ResultFiles> {
  const path = join(await temporaryFolder(), 'results.jsonl');
  await writeFile(path, text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return ResultFiles.open(keys, [{ path, sha256 }], call.signal);
}

function idOf(body: object): string {
  return createHash('sha256')
    .update(`${PATH}\n${JSON.stringify(body)}`)
    .digest('hex');
}

const answer = (body: object, reply: unknown): string =>
  JSON.stringify({ custom_id: idOf(body), response: { status_code: 200, body: reply }, error: null });

describe('request files', () => {
  test('hold each request once, by the hash of path and body', async () => {
    const bodies = [{ a: 1 }, { a: 2 }, { a: 1 }];
    const { folder, files, keys } = await written(bodies);
    expect(files).toMatchObject([{ name: 'requests-0001.jsonl', requests: 2 }]);
    const lines = await requestLines(folder);
    expect(lines).toEqual(
      bodies.slice(0, 2).map((body) => ({ custom_id: idOf(body), method: 'POST', url: PATH, body })),
    );
    expect(keys).toHaveLength(2);
  });

  test('are split at 50,000 requests', async () => {
    const bodies = Array.from({ length: 100_001 }, (_, number) => ({ number }));
    const { folder, files } = await written(bodies);
    expect(files.map(({ requests }) => requests)).toEqual([50_000, 50_000, 1]);
    const sizes = await Promise.all(files.map(async ({ name }) => (await stat(join(folder, name))).size));
    expect(files.map(({ bytes }) => bytes)).toEqual(sizes);
    expect(await requestLines(folder)).toHaveLength(100_001);
  });

  test('are split at 200 MB', async () => {
    const bodies = Array.from({ length: 41 }, (_, number) => ({ number, text: 'é'.repeat(2_500_000) }));
    const { files } = await written(bodies);
    expect(files.map(({ requests }) => requests)).toEqual([39, 2]);
    expect(Math.max(...files.map(({ bytes }) => bytes))).toBeLessThanOrEqual(200_000_000);
  });
});

describe('result files', () => {
  test.each<readonly [name: string, line: string, unreadable: number]>([
    ['no JSON', '{"custom_id":', 1],
    ['an array', '[]', 1],
    ['a number for an id', '{"custom_id":7,"response":null,"error":null}', 1],
    ['nested brackets without end', '['.repeat(1_000_000), 1],
    ['bytes that are no text', '\u0000\ufffd\u0007', 1],
    ['a line beyond the limit', `"${'x'.repeat(5_000_000)}"`, 1],
    ['an empty line', '', 0],
    ['an id of another batch', answer({ other: 1 }, 'no'), 0],
    [
      'an id with the same beginning',
      answer({ a: 1 }, 'no').replace(/[0-9a-f]{32}"/, `${'0'.repeat(32)}"`),
      0,
    ],
  ])('with %s between them have the others', async (name, line, unreadable) => {
    const { keys } = await written([{ a: 1 }, { b: 2 }]);
    const lines = [line, answer({ b: 2 }, 'b'), line, answer({ a: 1 }, 'a')];
    const results = await opened(keys, lines.join('\n'));
    expect(results.counts.unreadable).toBe(2 * unreadable);
    expect(await results.post(PATH, { b: 2 }, call)).toBe('b');
    // Only what claims the place of an answer can take it from an item.
    if (name !== 'an id with the same beginning') expect(await results.post(PATH, { a: 1 }, call)).toBe('a');
    else await expect(results.post(PATH, { a: 1 }, call)).rejects.toMatchObject({ answer: 'no result' });
    await expect(results.post(PATH, { c: 3 }, call)).rejects.toMatchObject({ answer: 'no result' });
    await results.close();
  });

  test('of which one is a success count by that', async () => {
    const { keys } = await written([{ a: 1 }]);
    const failed = answer({ a: 1 }, null).replace('200', '500');
    for (const lines of [
      [failed, answer({ a: 1 }, 'first'), answer({ a: 1 }, 'second')],
      [answer({ a: 1 }, 'first'), failed, failed],
    ]) {
      const results = await opened(keys, lines.join('\n'));
      expect(results.counts).toMatchObject({ requests: 1, answered: 1, duplicates: 2 });
      expect(await results.post(PATH, { a: 1 }, call)).toBe('first');
      await results.close();
    }
  });

  test('that are not those that were named are refused', async () => {
    const path = join(await temporaryFolder(), 'results.jsonl');
    const opening = (): Promise<ResultFiles> =>
      ResultFiles.open([], [{ path, sha256: '0'.repeat(64) }], call.signal);
    await expect(opening()).rejects.toThrow('cannot be read (ENOENT)');
    await writeFile(path, '{}\n');
    await expect(opening()).rejects.toThrow('has changed');
  });
});
