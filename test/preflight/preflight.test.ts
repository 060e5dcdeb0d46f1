import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { resolveRunConfig } from '../../src/config/resolve.ts';
import type { RunConfig } from '../../src/config/run-config.ts';
import type { Flags } from '../../src/config/settings/given.ts';
import { guardOpener } from '../../src/guard-setup/guard-session.ts';
import { forecastLines } from '../../src/preflight/forecast-text.ts';
import { type Forecast, preflight } from '../../src/preflight/preflight.ts';
import { startRun } from '../../src/runs/start-run.ts';
import { temporaryFolder, writeFiles } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { guard } from '../helpers/guards/guard-pool.ts';

let folder: string;
let uploads: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  uploads = join(folder, 'uploads');
  await mkdir(uploads);
});

const never = new AbortController().signal;

async function configOf(paths: string[], flags: Flags = {}): Promise<RunConfig> {
  return (await resolveRunConfig({ paths, flags: { out: 'runs', ...flags }, env: {}, cwd: folder })).config;
}

const forecastOf = (config: RunConfig, rate: number | null = null): Promise<Forecast> =>
  preflight(config, { rate, signal: never });

describe('a forecast', () => {
  it('counts what a run over the same sources then finds, and takes its speed afterwards', async () => {
    await writeComments(uploads, 'comments.csv', 300);
    const said = (role: string, content: string) => ({ role, content });
    const chats = Array.from({ length: 40 }, (_, at) =>
      JSON.stringify({ messages: [said('user', `Question ${at}`), said('assistant', `Answer ${at}`)] }),
    );
    await writeFiles(folder, {
      'uploads/chats.jsonl': `${chats.join('\n')}\n{"messages":\n`,
      'uploads/empty.png': '',
      'table.csv': 'id,title,body\n1,First,Some text\n2,Second,More text\n',
    });
    const server = await guard();
    const config = await configOf(['uploads', 'table.csv'], { guard: [server.address] });
    const before = await forecastOf(config);
    expect(before).toMatchObject({
      items: 344,
      to_judge: 342,
      time: null,
      sources: [
        {
          source: 'uploads',
          estimated: false,
          kinds: { csv: 1, jsonl: 1, 'refused (EMPTY_CONTENT)': 1 },
          to_judge: { text: 300, chat: 40, image: 0, audio: 0 },
          not_judged: { EMPTY_CONTENT: 1, MALFORMED_ROW: 1 },
        },
        {
          source: 'table.csv',
          kinds: { csv: 1 },
          tables: [{ path: 'table.csv', judged: ['"body"'], not_judged: ['"title"'] }],
        },
      ],
    });
    expect(existsSync(join(folder, 'runs'))).toBe(false);
    expect(forecastLines(before)[0]).toBe('Corpus: 344 items; 342 to judge, 2 not judged');

    const signals = { keyFile: null, drain: never, stop: never, signingKey: null, report: () => {} };
    const opener = async () => guardOpener({ ...config, tls: {}, startWaitMs: 120_000 }, {});
    const { summary } = await startRun(config, { ...signals, guards: opener });
    expect([summary.items, summary.verdicts]).toEqual([before.items, before.to_judge]);
    const speed = summary.verdicts / summary.seconds;
    const { time } = await forecastOf(config);
    expect(time).toEqual({ seconds: 342 / speed, items_per_second: speed, run: summary.run });
    expect((await forecastOf(config, 100)).time).toEqual({ seconds: 3.42, items_per_second: 100, run: null });
    const elsewhere = await configOf(['uploads'], { guard: ['grpc://127.0.0.1:9'] });
    expect((await forecastOf(elsewhere)).time).toBeNull();
  });

  it('refuses what a run refuses', async () => {
    await writeFile(join(folder, 'numbers.csv'), 'a,b\n1,2\n3,4\n');
    await expect(forecastOf(await configOf(['numbers.csv']))).rejects.toMatchObject({ kind: 'usage' });
  });
});

it('estimates the items of large tables among many small files, and of the small files', async () => {
  for (let at = 0; at < 1500; at++) await writeFile(join(uploads, `${at}.txt`), `A short text ${at}`);
  for (const name of ['one.csv', 'two.csv']) {
    const rows = Array.from({ length: 200_000 }, (_, at) => `${at},some words in row number ${at}`);
    await writeFile(join(uploads, name), `id,text\n${rows.join('\n')}\n`);
  }
  const forecast = await forecastOf(await configOf(['uploads']));
  expect(forecast.sources[0]!.estimated).toBe(true);
  expect(Math.abs(forecast.items - 401_500)).toBeLessThan(0.05 * 401_500);
  await writeFile(join(folder, 'small.txt'), 'Another text');
  expect((await forecastOf(await configOf(['small.txt']))).items).toBe(1);
});
