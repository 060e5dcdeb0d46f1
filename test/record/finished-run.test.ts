import { expect, it } from 'vitest';
import type { Item } from '../../src/domain/item.ts';
import type { Outcome, OutcomeLine } from '../../src/domain/outcome.ts';
import { RUN_FILES } from '../../src/files/run-files.ts';
import { readManifest } from '../../src/record/manifest/manifest.ts';
import { parseOutcomeLine } from '../../src/record/outcomes/outcome-schema.ts';
import { readOutcomeFile } from '../../src/record/outcomes/read-outcome-file.ts';
import { readRecord } from '../../src/record/read-record.ts';
import { finishedSummary } from '../../src/record/summary/finished-summary.ts';
import { failed, finishedRun, resultOf, shardOf, signal, verdict } from './run-fixture.ts';

it('a finished run is read without a writer: configuration, summary, manifest, outcome lines', async () => {
  const judge = (item: Item): Outcome => (item.seq === 0 ? verdict(item, { score: 0.9 }) : failed('TIMEOUT'));
  const { dir, record, head } = await finishedRun([resultOf(shardOf(0, [0, 1]), judge)]);
  expect(await readRecord(dir)).toEqual(record);
  expect(await finishedSummary(dir)).toMatchObject({ items: 2, errors: 1, chain_head: head });
  expect(await readManifest(dir)).toMatchObject({ run: record.run, chain_head: head });
  const lines: OutcomeLine[] = [];
  for await (const batch of readOutcomeFile(dir, RUN_FILES.verdicts, { signal, parse: parseOutcomeLine })) {
    lines.push(...batch);
  }
  expect(lines.map(({ seq, score, error }) => [seq, score, error?.code])).toEqual([
    [0, 0.9, undefined],
    [1, null, 'TIMEOUT'],
  ]);
});
