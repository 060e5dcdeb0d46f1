import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/analysis/database.ts';
import { loadLines } from '../../src/analysis/load-lines.ts';
import { verdictsInLines } from '../../src/analysis/verdict-columns.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Policy } from '../../src/domain/policy.ts';
import { listForeignCategories } from '../../src/domain/taxonomy.ts';
import { jsonl } from '../helpers/documents.ts';

const LIMITS = {
  memory: '128MB',
  threads: 1,
  connections: 1,
  queryTimeoutMs: null,
  inOrder: true,
  keptMemory: null,
} as const;

/** Starting DuckDB takes longer than making a small table, so that one serves all of a test file. */
let shared: Promise<Database> | undefined;

/** Writes outcome lines into a folder, as verdicts.jsonl and verdicts.parquet. */
export async function writeVerdicts(
  dir: string,
  lines: readonly OutcomeLine[],
  policy: Policy,
): Promise<void> {
  const database = await (shared ??= Database.create(
    mkdtempSync(join(tmpdir(), 'guardsweep-table-')),
    LIMITS,
    'in memory',
  ));
  writeFileSync(join(dir, 'verdicts.jsonl'), jsonl(...lines));
  const foreign = lines.flatMap((line) => listForeignCategories(line.subcategory_scores));
  const copy = `COPY (FROM ${verdictsInLines(policy, [...new Set(foreign)])}) TO '${join(dir, 'verdicts.parquet')}' (FORMAT parquet)`;
  await loadLines(database, copy, join(dir, 'verdicts.jsonl'), new AbortController().signal);
}
