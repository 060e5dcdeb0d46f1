import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Trial } from '../../src/config/run-config.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { readManifest } from '../../src/record/manifest/manifest.ts';
import { summaryLines } from '../../src/record/summary/summary-text.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { go, judge, rows, runOver } from './small-run.ts';

const first = (limit: number): Trial => ({ limit, sample: null, seed: null });
const share = (sample: number, by = 0): Trial => ({ limit: null, sample, seed: by });

/** What was judged: paths with rows. */
const places = (lines: readonly OutcomeLine[]): string[] =>
  lines.map(({ source: { path, row } }) => `${path.replace('uploads/', '')}${row === null ? '' : ` ${row}`}`);

const CHATS = Array.from({ length: 30 }, (_, row) => {
  const chat = ['user', 'assistant', 'user'].map((role, turn) => ({ role, content: `${row} ${turn}` }));
  return `${JSON.stringify(row % 2 === 0 ? { prompt: `p ${row}`, chosen: 'a', rejected: 'b' } : { messages: chat })}\n`;
}).join('');

const FILES = {
  'a.csv': rows('a', 0, 40),
  'b.jsonl': CHATS,
  ...Object.fromEntries(Array.from({ length: 30 }, (_, file) => [`c${file + 10}.txt`, `file ${file}`])),
  'd.csv': rows('d', 0, 25),
};

it('a trial of the first records judges these and reads no further, all items of a record together', async () => {
  const { run } = await runOver(FILES, first(42));
  const { summary } = await go(run, judge());
  const lines = await outcomes(run.dir);
  const table = Array.from({ length: 40 }, (_, row) => `a.csv ${row + 1}`);
  expect(places(lines)).toEqual([...table, 'b.jsonl 1', 'b.jsonl 1', 'b.jsonl 2']);
  const trial = { ...first(42), records_read: 42, records_not_selected: null };
  expect(summary).toMatchObject({ status: 'finished', items: 43, trial, empty_sources: { count: 0 } });
  expect(summaryLines(summary).slice(0, 2)).toEqual([
    'Judged 43 of 43 items; 0 not judged',
    'TRIAL: only the first 42 records (--limit 42); the rest of the corpus was not read',
  ]);
  expect(await readManifest(run.dir)).toMatchObject({ trial, sources: run.sources.length });
  const [firstLine] = (await readFile(join(run.dir, 'source-hashes.jsonl'), 'utf8')).split('\n');
  expect(firstLine).toBe('{"source":0,"sha256":null}');
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: 43 });
});

it('a trial of a random share takes whole records and whole files, the same ones for the same seed', async () => {
  const { run } = await runOver(FILES, share(0.3));
  const { summary } = await go(run, judge());
  const judged = places(await outcomes(run.dir));
  const chosen = new Set(judged).size;
  expect(chosen).toBeGreaterThan(15);
  expect(chosen).toBeLessThan(70);
  expect(judged.some((place) => place.endsWith('.txt'))).toBe(true);
  for (const place of judged.filter((of) => of.startsWith('b.jsonl') && Number(of.split(' ')[1]) % 2 === 1))
    expect(judged.filter((other) => other === place)).toHaveLength(2);
  expect(summary.trial).toEqual({ ...share(0.3), records_read: 125, records_not_selected: 125 - chosen });
  expect(summaryLines(summary)[1]).toBe(
    `TRIAL: only ${chosen} of 125 records (--sample 30%, --seed 0); the others were not judged`,
  );
  const judgedBy = async (trial: Trial): Promise<string[]> => {
    const again = await runOver(FILES, trial);
    await go(again.run, judge());
    return places(await outcomes(again.run.dir));
  };
  expect(await judgedBy(share(0.3))).toEqual(judged);
  expect(await judgedBy(share(0.3, 1))).not.toEqual(judged);
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
});
