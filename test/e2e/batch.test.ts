import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { GuardFamily } from '../../src/domain/guard/guard-family.ts';
import { Cli, type Finished, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import {
  answeredBatch,
  type RequestLine,
  requestLines,
  type ResultLine,
} from '../helpers/guards/answered-batch.ts';
import { closeAfterEach, openAiServer } from '../helpers/guards/guard-pool.ts';
import { seeded } from '../helpers/seeded.ts';

closeAfterEach();

const MODERATIONS = { family: 'moderations', model: 'omni-moderation-latest' } as const;
const ROWS = 300;

interface Line {
  readonly id: string;
  readonly status: string;
  readonly score: number | null;
  readonly flagged: boolean | null;
  readonly subcategory_scores: unknown;
  readonly same_as: number | null;
  readonly fingerprint: string | null;
  readonly endpoint: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Rows of their own, one that occurs twice, one that is no text, and a response. */
async function corpus(rows = ROWS): Promise<{ folder: string; paths: string[] }> {
  const folder = await temporaryFolder();
  const texts = Array.from({ length: rows }, (_, row) => `comment number ${row}`);
  await writeFile(join(folder, 'a.csv'), `text\n${[...texts, texts[7]].join('\n')}\n`);
  await writeFile(join(folder, 'b.jsonl'), '{"prompt":"may I?","response":"you may"}\n{"broken\n');
  return { folder, paths: [join(folder, 'a.csv'), join(folder, 'b.jsonl')] };
}

async function exported(paths: readonly string[], guard: string, ...more: string[]) {
  const requests = join(await temporaryFolder(), 'batch');
  const args = ['batch', 'export', ...paths, '--guard', guard, '--requests', requests, ...more];
  return { requests, ended: await guardsweep(args) };
}

async function resultFile(name: string, lines: readonly (ResultLine | string)[]): Promise<string> {
  const path = join(await temporaryFolder(), name);
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  await writeFile(path, `${texts.join('\n')}\n`);
  return path;
}

async function onlyRun(out: string): Promise<string> {
  const [name, ...others] = (await readdir(out)).filter((one) => !one.startsWith('.'));
  expect(others).toEqual([]);
  return join(out, name!);
}

async function linesOf(dir: string): Promise<Line[]> {
  const text = await readFile(join(dir, 'verdicts.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

async function canariesOf(dir: string): Promise<unknown> {
  const summary = JSON.parse(await readFile(join(dir, 'summary.json'), 'utf8')) as { canaries: unknown };
  return summary.canaries;
}

function shuffled<T>(values: readonly T[], seed: number): T[] {
  const random = seeded(seed);
  const keyed = values.map((value) => ({ value, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
}

/** Of each comment that has another fate than to be answered: how its requests end. */
const FATES: Readonly<Record<number, string>> = {
  10: 'missing',
  11: 'expired',
  12: 'too long',
  13: 'rejected',
  14: 'server error',
  15: 'rate limit',
  16: 'mangled',
  17: 'no status',
  18: 'not a verdict',
  19: 'gigantic',
  20: 'no response',
};

const CODES: Readonly<Record<string, string>> = {
  missing: 'GUARD_UNAVAILABLE',
  expired: 'GUARD_UNAVAILABLE',
  'too long': 'SEQUENCE_OVERFLOW',
  rejected: 'GUARD_REJECTED',
  'server error': 'GUARD_INTERNAL',
  'rate limit': 'GUARD_OVERLOADED',
  mangled: 'GUARD_UNAVAILABLE',
  'no status': 'GUARD_UNAVAILABLE',
  'not a verdict': 'INVALID_REPLY',
  gigantic: 'GUARD_UNAVAILABLE',
  'no response': 'INVALID_REPLY',
};

function fateOf({ body }: RequestLine): string {
  const row = /comment number (\d+)"/.exec(JSON.stringify(body))?.[1];
  return FATES[Number(row ?? -1)] ?? 'answered';
}

/** The lines for a request with a fate; of the error file where it has none of the output file. */
function ended(fate: string, result: ResultLine): { output?: ResultLine | string; error?: ResultLine } {
  const reply = (status_code: number, body: unknown): ResultLine => ({
    ...result,
    response: { status_code, request_id: 'r', body },
  });
  const failed = (status: number, code: string | null): ResultLine =>
    reply(status, { error: { message: 'a message that quotes content', code } });
  switch (fate) {
    case 'missing':
      return {};
    case 'expired':
      return { error: { ...result, response: null, error: { code: 'batch_expired', message: 'too late' } } };
    case 'too long':
      return { error: failed(400, 'context_length_exceeded') };
    case 'rejected':
      return { error: failed(400, null) };
    case 'server error':
      return { error: failed(500, 'server_error') };
    case 'rate limit':
      return { error: failed(429, 'rate_limit_exceeded') };
    case 'mangled':
      return { output: JSON.stringify(result).slice(0, -20) };
    case 'no status':
      return { output: JSON.stringify({ ...result, response: { status_code: 'ok', body: {} } }) };
    case 'not a verdict':
      return { output: reply(200, { choices: [{ message: { content: 17 } }], results: 'none' }) };
    case 'gigantic':
      return { output: reply(200, { text: 'x'.repeat(3_000_000) }) };
    case 'no response':
      return { output: { ...result, response: null } };
    default:
      return { output: result };
  }
}

describe.each<readonly [family: GuardFamily, model: string, perItem: number]>([
  ['moderations', MODERATIONS.model, 1],
  ['llama-guard', 'meta-llama/Llama-Guard-3-8B', 1],
  ['granite-guardian', 'ibm-granite/granite-guardian-3.3-8b', 7],
])('the batch of %s', (family, model, perItem) => {
  test('becomes a run like that of the guard itself, whatever is wrong with its results', async () => {
    const { folder, paths } = await corpus();
    const server = await openAiServer({ family, model });
    const { requests, ended: written } = await exported(paths, server.address);
    expect(written).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('nothing is sent') as string,
    });
    expect(written.stdout).toContain(`${ROWS + 3} items`);
    expect(written.stdout).toContain('1 item as MALFORMED_ROW');
    expect(server.paths).toEqual([]);

    const lines = await requestLines(requests);
    const url = family === 'moderations' ? '/v1/moderations' : '/v1/chat/completions';
    expect(lines.every((line) => line.method === 'POST' && line.url === url)).toBe(true);
    expect(new Set(lines.map(({ custom_id }) => custom_id)).size).toBe(lines.length);
    const ofComments = lines.filter(({ body }) => JSON.stringify(body).includes('comment number'));
    // The comment that occurs twice is asked once. Of a response fewer risks are asked.
    expect(ofComments).toHaveLength(ROWS * perItem);

    const fates = (await answeredBatch(lines, server.port)).map((result, at) =>
      ended(fateOf(lines[at]!), result),
    );
    const outputs = fates.flatMap(({ output }) => output ?? []);
    const answered = outputs.filter((line): line is ResultLine => typeof line !== 'string');
    const unknown = { ...answered[0]!, custom_id: 'f'.repeat(64) };
    const foreign = { ...answered[0]!, custom_id: 'request-1' };
    const twice = answered.find(({ custom_id }) => custom_id === ofComments[0]!.custom_id)!;
    const contrary = { ...twice, response: { status_code: 500, request_id: 'r', body: null } };
    const all = [...shuffled(outputs, 1), twice, unknown, '', foreign, '[]'];
    const output = await resultFile('output.jsonl', all);
    const errors = await resultFile('errors.jsonl', [contrary, ...fates.flatMap(({ error }) => error ?? [])]);

    const seen = server.seen.length;
    const out = join(folder, 'imported');
    const imported = await guardsweep(['batch', 'import', requests, errors, output, '--out', out]);
    expect(server.seen).toHaveLength(seen);
    expect(imported).toMatchObject({ status: 5 });
    const missing = 4 * perItem;
    expect(imported.stderr).toContain(
      `${(lines.length - missing).toLocaleString('en-US')} of ${lines.length.toLocaleString('en-US')} requests have a result; ` +
        `${missing} without a result; 2 duplicate results; 2 results of other requests; ${3 * perItem + 1} unreadable lines`,
    );
    expect(imported.stdout).toContain(`Judged ${ROWS + 3 - 12} of ${ROWS + 3} items`);
    const dir = await onlyRun(out);
    expect((await guardsweep(['verify', dir])).status).toBe(0);

    const found = await linesOf(dir);
    for (const [row, fate] of Object.entries(FATES))
      expect([fate, found[Number(row)]!.error?.code]).toEqual([fate, CODES[fate]]);
    expect(JSON.stringify(found)).not.toContain('quotes content');

    // What was answered is judged as by the guard itself, and so are the canaries.
    const online = await guardsweep([
      'enqueue',
      ...paths,
      '--guard',
      server.address,
      '--out',
      join(folder, 'online'),
    ]);
    expect(online.status).toBe(5);
    const asked = await linesOf(await onlyRun(join(folder, 'online')));
    const content = ({ id, status, score, flagged, subcategory_scores, same_as, endpoint }: Line) => ({
      ...{ id, status, score, flagged, subcategory_scores, same_as, endpoint },
    });
    const isJudged = (_: Line, at: number): boolean => FATES[at] === undefined;
    expect(found.filter(isJudged).map(content)).toEqual(asked.filter(isJudged).map(content));
    expect(found[ROWS]).toMatchObject({ same_as: 7, status: 'ok' });
    expect(new Set(found.flatMap(({ fingerprint }) => fingerprint ?? []))).toEqual(
      new Set(asked.flatMap(({ fingerprint }) => fingerprint ?? [])),
    );
    expect(await canariesOf(dir)).toEqual(await canariesOf(await onlyRun(join(folder, 'online'))));
    expect(await canariesOf(dir)).toMatchObject({ checks: 1, answers: 7 });

    // What has no verdict can be asked again, of the guard itself.
    const before = server.seen.length;
    const retried = await guardsweep(['retry', dir]);
    expect(retried.stdout).toContain(`Judged ${ROWS + 3 - 5} of ${ROWS + 3} items`);
    expect(new Set(server.seen.slice(before).flatMap(({ contents }) => contents)).size).toBe(7);
    expect((await guardsweep(['verify', dir])).status).toBe(0);
  });
});

async function moderated(rows = ROWS) {
  const { folder, paths } = await corpus(rows);
  const server = await openAiServer(MODERATIONS);
  const { requests } = await exported(paths, server.address);
  const results = await answeredBatch(await requestLines(requests), server.port);
  return { folder, paths, server, requests, output: await resultFile('output.jsonl', results) };
}

test('images, conversations and clips are judged as by the guard itself', async () => {
  const folder = await temporaryFolder();
  const media = join(folder, 'media');
  await mkdir(media);
  await copyFile('test/fixtures/images/grey.png', join(media, 'grey.png'));
  await writeFile(join(media, 'grey.txt'), 'a grey square');
  await copyFile('test/fixtures/images/grey.png', join(media, 'other.png'));
  await copyFile('test/fixtures/audio/cover.m4a', join(media, 'cover.m4a'));
  const messages = [
    { role: 'user', content: 'a question' },
    { role: 'assistant', content: 'an answer' },
  ];
  await writeFile(join(media, 'chat.jsonl'), `${JSON.stringify({ messages })}\n`);
  const server = await openAiServer(MODERATIONS);
  const { requests } = await exported([media], server.address, '--audit', 'every-turn');
  const results = await answeredBatch(await requestLines(requests), server.port);
  const output = await resultFile('output.jsonl', results);
  const out = join(folder, 'runs');
  expect((await guardsweep(['batch', 'import', requests, output, '--out', out])).status).toBe(5);
  const dir = await onlyRun(out);
  expect((await guardsweep(['verify', dir])).status).toBe(0);
  const online = join(folder, 'online');
  await guardsweep(['enqueue', media, '--guard', server.address, '--audit', 'every-turn', '--out', online]);
  const verdicts = ({ id, status, score, error }: Line) => [id, status, score, error?.code];
  const found = (await linesOf(dir)).map(verdicts);
  expect(found).toEqual((await linesOf(await onlyRun(online))).map(verdicts));
  expect(found.map(([, status]) => status)).toEqual(['ok', 'ok', 'error', 'ok', 'ok']);
  expect(await canariesOf(dir)).toEqual(await canariesOf(await onlyRun(online)));
});

test('an export that is interrupted leaves nothing', async () => {
  const { paths } = await corpus(50_000);
  const requests = join(await temporaryFolder(), 'batch');
  const guard = ['--guard', 'openai+https://api.openai.com', '--requests', requests];
  const cli = new Cli(['batch', 'export', ...paths, ...guard]);
  cli.child.stderr!.once('data', () => cli.kill('SIGINT'));
  expect((await cli.finished()).status).toBe(130);
  await expect(readdir(requests)).rejects.toThrow('ENOENT');
});

test('an import that is killed is resumed from the same results, and from no others', async () => {
  const { folder, server, requests, output } = await moderated(3000);
  const out = join(folder, 'runs');
  server.kill();
  const cli = new Cli(['batch', 'import', requests, output, '--out', out]);
  cli.child.stderr!.on('data', () => cli.stderr.includes('run directory') && cli.kill('SIGKILL'));
  expect((await cli.finished()).signal).toBe('SIGKILL');
  const dir = await onlyRun(out);
  const results = await readFile(output, 'utf8');
  await writeFile(output, results.replace('"flagged":false', '"flagged":true'));
  expect(await guardsweep(['resume', dir])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('has changed since') as string,
  });
  await writeFile(output, results);
  const resumed = await guardsweep(['resume', dir]);
  expect(resumed.stdout).toContain('Judged 3,002 of 3,003 items');
  expect((await guardsweep(['verify', dir])).status).toBe(0);
});

test('content that has changed since the export has no result, and gets that of no other item', async () => {
  const { folder, paths, requests, output } = await moderated();
  const text = await readFile(paths[0]!, 'utf8');
  await writeFile(paths[0]!, text.replace('comment number 5\n', 'another comment\n'));
  const out = join(folder, 'runs');
  expect((await guardsweep(['batch', 'import', requests, output, '--out', out])).status).toBe(5);
  const lines = await linesOf(await onlyRun(out));
  const failed = lines.flatMap((line, at) => (line.error === null ? [] : [[at, line.error.code]]));
  expect(failed).toEqual([
    [5, 'GUARD_UNAVAILABLE'],
    [ROWS + 2, 'MALFORMED_ROW'],
  ]);
});

test('results of two models are verdicts of each', async () => {
  const { folder, requests, output } = await moderated();
  const text = (await readFile(output, 'utf8')).split('\n');
  const renamed = text.map((line, at) =>
    at % 2 === 0 ? line.replace(/"model":"[^"]+"/, '"model":"other"') : line,
  );
  await writeFile(output, renamed.join('\n'));
  const out = join(folder, 'runs');
  const imported = await guardsweep(['batch', 'import', requests, output, '--out', out]);
  expect(imported.stdout).toContain('ATTENTION: 2 different models judged');
  const dir = await onlyRun(out);
  const models = (await linesOf(dir)).flatMap(({ fingerprint }) => fingerprint ?? []);
  expect(new Set(models).size).toBe(2);
  expect((await guardsweep(['verify', dir])).status).toBe(0);
});

test('a guard that flags nothing fails its canaries in a batch as well', async () => {
  const { folder, requests, output } = await moderated();
  const text = await readFile(output, 'utf8');
  await writeFile(output, text.replaceAll('"flagged":true', '"flagged":false'));
  const out = join(folder, 'runs');
  expect(await guardsweep(['batch', 'import', requests, output, '--out', out])).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('failed the text canaries') as string,
  });
});

describe('what cannot be a batch is refused before anything is written', () => {
  const refused = async (args: readonly string[]): Promise<Finished> => guardsweep(['batch', ...args]);

  test.each([
    ['no folder', ['export', 'README.md', '--guard', 'openai+https://api.openai.com'], '--requests'],
    [
      'another guard',
      ['export', 'README.md', '--guard', 'grpc://127.0.0.1:1', '--requests', 'NEW'],
      'openai+https',
    ],
    ['no guard', ['export', 'README.md', '--requests', 'NEW'], 'openai+https'],
    [
      'a folder that is there',
      ['export', 'README.md', '--guard', 'openai+https://a', '--requests', 'docs'],
      'exists',
    ],
    [
      'an unknown family',
      ['export', 'README.md', '--guard', 'openai+https://a?model=gpt', '--requests', 'NEW'],
      'add &family=',
    ],
    [
      'a flag of the other action',
      ['export', 'README.md', '--requests', 'NEW', '--no-report'],
      'does not take it',
    ],
    ['no results', ['import', 'docs'], 'result files'],
    ['no export', ['import', 'docs', 'README.md'], 'not a folder that batch export completed'],
    ['a flag of export', ['import', 'docs', 'README.md', '--guard', 'openai+https://a'], 'does not take it'],
  ])('%s', async (_, args, why) => {
    const folder = join(await temporaryFolder(), 'new');
    const ended = await refused(args.map((word) => (word === 'NEW' ? folder : word)));
    expect(ended).toMatchObject({ status: 2, stderr: expect.stringContaining(why) as string });
    await expect(readdir(folder)).rejects.toThrow('ENOENT');
  });
});
