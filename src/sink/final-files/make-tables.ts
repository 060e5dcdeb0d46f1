import { readRecordLines } from '../../files/record-lines.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { OutcomeFiles } from '../../record/outcomes/outcome-files.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { FlaggedBounds } from '../../record/tables/flagged-tables.ts';
import type { FinalFile } from './final-file.ts';

interface TablesInput {
  readonly config: RunConfig;
  /** Path of verdicts.jsonl, complete. */
  readonly verdicts: string;
  readonly create: (name: string) => Promise<FinalFile>;
  readonly bounds: FlaggedBounds | undefined;
  readonly signal: AbortSignal;
}

/** Makes the tables of a run from its verdicts.jsonl. Returns the rows of each, without headers. */
export async function makeTables(input: TablesInput): Promise<Readonly<Record<string, number>>> {
  const { config, verdicts, create, bounds, signal } = input;
  const tables = await OutcomeFiles.begin(create, config, bounds);
  try {
    for await (const batch of readRecordLines(verdicts, { signal })) {
      const lines = batch.map((bytes) => ({
        bytes: Buffer.concat([bytes, NEWLINE]),
        line: JSON.parse(bytes.toString()) as OutcomeLine,
      }));
      await tables.add(lines);
    }
    await tables.end(signal);
    return tables.rows;
  } finally {
    await tables.close();
  }
}

const NEWLINE = Buffer.from('\n');
