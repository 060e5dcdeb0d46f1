import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/analysis/database.ts';
import { loadLines } from '../../src/analysis/load-lines.ts';
import { verdictsInLines } from '../../src/analysis/verdict-columns.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Policy } from '../../src/domain/policy.ts';
import { listForeignCategories } from '../../src/domain/taxonomy.ts';

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

/** Makes the verdicts.parquet of a folder from its verdicts.jsonl. */
export async function writeVerdictTable(dir: string, policy: Policy): Promise<void> {
  const database = await (shared ??= Database.create(
    mkdtempSync(join(tmpdir(), 'guardsweep-table-')),
    LIMITS,
    'in memory',
  ));
  const lines = readFileSync(join(dir, 'verdicts.jsonl'), 'utf8').split('\n').filter(Boolean);
  const foreign = lines.flatMap((line) =>
    listForeignCategories((JSON.parse(line) as OutcomeLine).subcategory_scores),
  );
  const copy = `COPY (FROM ${verdictsInLines(policy, [...new Set(foreign)])}) TO '${join(dir, 'verdicts.parquet')}' (FORMAT parquet)`;
  await loadLines(database, copy, join(dir, 'verdicts.jsonl'), new AbortController().signal);
}
