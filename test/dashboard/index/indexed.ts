import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunRecord } from '../../../src/config/run-config.ts';
import { openIndex } from '../../../src/dashboard/index/build-index.ts';
import type { RunIndex } from '../../../src/dashboard/index/run-index.ts';
import { Reviews } from '../../../src/dashboard/reviews/reviews.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { DEFAULT_POLICY, type Policy } from '../../../src/domain/policy.ts';
import { writeVerdictTable } from '../../analysis/verdict-table.ts';

export const signal = new AbortController().signal;

export const RUN = '20261122T120000Z-night-ab12';

/** An index of these lines, which are in ascending seq. Closed when the test is over. */
export async function indexed(
  lines: readonly OutcomeLine[],
  policy: Policy = DEFAULT_POLICY,
): Promise<RunIndex> {
  const root = await mkdtemp(join(tmpdir(), 'guardsweep-indexed-'));
  const dir = join(root, RUN);
  const folder = join(dir, 'index');
  await mkdir(folder, { recursive: true });
  await writeFile(join(dir, 'run.json'), '{}');
  const text = lines.map((line) => `${JSON.stringify({ ...line, run: RUN })}\n`).join('');
  await writeFile(join(dir, 'verdicts.jsonl'), text);
  await writeVerdictTable(dir, policy);
  const record = { run: RUN, config: { policy } } as RunRecord;
  const reviews = Reviews.beside(dir);
  const index = await openIndex({ record, reviews, runDir: dir }, null, folder, signal);
  onTestFinished(async () => {
    await index.close();
    await rm(root, { recursive: true });
  });
  return index;
}
