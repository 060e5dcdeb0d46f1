import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { resolveRunConfig } from '../../src/config/resolve.ts';
import type { RunConfig } from '../../src/config/run-config.ts';
import type { Flags } from '../../src/config/settings/given.ts';
import { guardOpener } from '../../src/guard-setup/guard-session.ts';
import { expandSources } from '../../src/ingest/discover/expand.ts';
import { FrozenSources } from '../../src/ingest/sources/frozen-sources.ts';
import { forecastLines } from '../../src/preflight/forecast-text.ts';
import type { Forecast } from '../../src/preflight/forecast.ts';
import { preflight } from '../../src/preflight/preflight.ts';
import { seededRandom } from '../../src/preflight/statistics.ts';
import { readCorpus } from '../../src/preflight/read-corpus.ts';
import { startRun } from '../../src/runs/start-run.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { closeAfterEach, guard } from '../helpers/guards/guard-pool.ts';

closeAfterEach();

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const never = new AbortController().signal;

async function configOf(paths: string[], flags: Flags = {}): Promise<RunConfig> {
  return (await resolveRunConfig({ paths, flags: { out: 'runs', ...flags }, env: {}, cwd: folder })).config;
}

function forecastOf(config: RunConfig, judging = false, seed = 1): Promise<Forecast> {
  const guards = judging
    ? guardOpener({ ...config, tls: {}, startWaitMs: 10_000, stampVerdicts: false }, {})
    : null;
  return preflight(config, { guards, sample: 64, seed, keyFile: null, say: () => {}, signal: never });
}

async function mixed(): Promise<string[]> {
  const uploads = join(folder, 'uploads');
  await mkdir(uploads);
  await writeComments(uploads, 'comments.csv', 300);
  const chats = Array.from({ length: 40 }, (_, at) => ({
    messages: [
      { role: 'user', content: `Question ${at}` },
      { role: 'assistant', content: `Answer ${at}` },
    ],
  }));
  await writeFile(
    join(uploads, 'chats.jsonl'),
    `${chats.map((chat) => JSON.stringify(chat)).join('\n')}\n{"messages":\n`,
  );
  await writeFile(join(uploads, 'empty.png'), '');
  const table = 'id,title,body\n1,First,Some text\n2,Second,More text\n';
  await writeFile(join(folder, 'table.csv'), table);
  return ['uploads', 'table.csv'];
}

describe('a forecast', () => {
  it('counts what a run over the same sources then finds', async () => {
    const server = await guard();
    const config = await configOf(await mixed(), { guard: [server.address], textColumn: undefined });
    const forecast = await forecastOf(config, true);
    const signals = { keyFile: null, drain: never, stop: never, signingKey: null, report: () => {} };
    const opener = async () => guardOpener({ ...config, tls: {}, startWaitMs: 10_000 }, {});
    const { summary } = await startRun(config, { ...signals, guards: opener });
    expect(forecast.method).toBe('counted');
    expect(forecast).toMatchObject({
      items: summary.items,
      to_judge: summary.verdicts,
      predicted: { errors: summary.by_error_code, lanes: { text: 302, chat: 40, image: 0, audio: 0 } },
    });
    expect(forecast.sources.map(({ source, layouts }) => [source, layouts])).toEqual([
      ['uploads', { csv: 1, jsonl: 1, 'refused (EMPTY_CONTENT)': 1 }],
      ['table.csv', { csv: 1 }],
    ]);
    expect(forecast.sources[1]!.tables).toEqual([
      { path: 'table.csv', judged: ['"body"'], not_judged: ['"title"'] },
    ]);
    const { sampled, by_decision: decisions, duration } = forecast.guard!;
    expect(sampled).toBe(64);
    const shares = Object.values(decisions);
    expect(shares.reduce((sum, { seen }) => sum + seen, 0)).toBe(64);
    const blocked = summary.by_decision.block / summary.verdicts;
    // A false alarm of the interval in every twentieth case would be right, so this looks at a wider one.
    expect(Math.abs(decisions.block.value - blocked)).toBeLessThan(
      2 * (decisions.block.high - decisions.block.low),
    );
    expect(duration!.guard.low).toBeLessThanOrEqual(duration!.guard.value);
    expect(duration!.guard.high).toBeGreaterThanOrEqual(duration!.guard.value);
    expect(forecast.guard!.reuse).toBeNull();
    expect((await forecastOf(config, true)).guard!.reuse).toMatchObject({ value: 1, items: 342 });
    expect(forecast.disk_bytes).toBeGreaterThan(summary.items * 1000);
    expect(forecast.items_interval).toEqual({ low: 344, high: 344 });
    expect(forecastLines(forecast)[0]).toMatch(
      /^Corpus: 344 items in 4 files, .* \(counted\); 342 to judge, 2 not judged$/,
    );
  });

  it('without a guard forecasts neither time nor flags, and is the same for the same seed', async () => {
    const config = await configOf(await mixed());
    const one = await forecastOf(config);
    expect(one.guard).toBeNull();
    expect(await forecastOf(config)).toEqual(one);
  });

  it('refuses what a run refuses', async () => {
    await writeFile(join(folder, 'numbers.csv'), 'a,b\n1,2\n3,4\n');
    const config = await configOf(['numbers.csv']);
    await expect(forecastOf(config)).rejects.toMatchObject({ kind: 'usage' });
  });
});

describe('a corpus of which only a part is read', () => {
  it('has its items estimated: the rest of a table by its bytes, other files by their number', async () => {
    const parts = join(folder, 'parts');
    await mkdir(parts);
    for (let at = 0; at < 12; at++) await writeComments(parts, `part-${at}.csv`, 2000);
    for (let at = 0; at < 12; at++) await writeFile(join(parts, `${at}.txt`), `Text number ${at}`);
    const config = await configOf(['parts']);
    const { sources } = await expandSources(config.sources, never);
    const bytes = sources.reduce((sum, source) => sum + source.bytes, 0);
    let offered = 0;
    const { method, predicted, read } = await readCorpus(sources, {
      config,
      frozen: new FrozenSources(sources, config.sources),
      maxBytes: bytes / 3,
      sample: () => void offered++,
      random: seededRandom(5),
      signal: never,
    });
    expect(method).toBe('estimated');
    expect(read.files).toBeLessThan(24);
    expect(read.bytes).toBeLessThan(bytes / 2);
    expect(offered).toBeLessThan(16_000);
    const expected = 12 * 2000 + 12;
    expect(Math.abs(predicted.counts.lanes.text - expected)).toBeLessThan(expected / 50);
  });
});

it('finds the items of one large table among thousands of small files', async () => {
  const uploads = join(folder, 'uploads');
  await mkdir(uploads);
  for (let at = 0; at < 3000; at++) await writeFile(join(uploads, `${at}.txt`), `A short text ${at}`);
  const rows = Array.from({ length: 200_000 }, (_, at) => `${at},some words in row number ${at}`);
  await writeFile(join(uploads, 'large.csv'), `id,text\n${rows.join('\n')}\n`);
  const config = await configOf(['uploads']);
  for (const seed of [1, 2, 3]) {
    const { items, items_interval: interval, method } = await forecastOf(config, false, seed);
    expect(method).toBe('estimated');
    expect(interval.low).toBeLessThanOrEqual(203_000);
    expect(interval.high).toBeGreaterThanOrEqual(203_000);
    expect(interval.high - interval.low).toBeLessThan(0.2 * 203_000);
    expect(Math.abs(items - 203_000)).toBeLessThan(0.05 * 203_000);
  }
});
