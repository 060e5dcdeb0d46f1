import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { isForeignCategory } from '../../domain/taxonomy.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { FileComparison } from '../../record/verify/file-comparison.ts';
import { Database } from '../database.ts';
import { makeTables, type TableFile } from './make-tables.ts';

/**
 * Compares the tables of a run with its verdicts.jsonl, by content: makes them again, and compares the rows of
 * verdicts.parquet, in any order, and the lines of the others. The workbook is checked by its hash only. Failure('internal')
 * names the first file that has other content.
 */
export async function compareTables(
  runDir: string,
  config: Pick<RunConfig, 'output' | 'policy' | 'sources'>,
  signal: AbortSignal,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'guardsweep-'));
  const opened: FileComparison[] = [];
  const nothing = async (): Promise<void> => undefined;
  const create = async (name: string): Promise<TableFile> => {
    const temporary = join(folder, name);
    if (name === RUN_FILES.flaggedWorkbook || name === RUN_FILES.verdictsParquet) {
      return { temporary, write: nothing, fill: (work) => work(), complete: nothing };
    }
    const file = await FileComparison.open(runDir, name);
    opened.push(file);
    const complete = async (): Promise<void> => {
      for await (const chunk of createReadStream(temporary)) await file.write([chunk as Buffer]);
      await file.complete();
      await rm(temporary);
    };
    return { temporary, write: nothing, fill: (work) => work(), complete };
  };
  try {
    const verdicts = join(runDir, RUN_FILES.verdicts);
    const foreign = await foreignColumns(join(runDir, RUN_FILES.verdictsParquet), signal);
    await makeTables({ config, foreign, verdicts, spill: join(folder, 'spilled'), create, signal });
    await compareRows(
      join(runDir, RUN_FILES.verdictsParquet),
      join(folder, RUN_FILES.verdictsParquet),
      join(folder, 'spilled'),
      signal,
    );
  } finally {
    for (const file of opened) await file.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The categories of other taxonomies that a table has columns of. */
function foreignColumns(table: string, signal: AbortSignal): Promise<string[]> {
  return Database.temporary(async (database) => {
    const rows = await database.query('SELECT name FROM parquet_schema($1)', [table], signal);
    return rows.map(([name]) => String(name)).filter(isForeignCategory);
  });
}

/** Failure('internal') unless both files have the same rows, each as often. */
async function compareRows(found: string, made: string, spill: string, signal: AbortSignal): Promise<void> {
  const rows = await Database.spillingTo(spill, async (database) => {
    const except = (one: string, other: string): string =>
      `(SELECT count(*) FROM (FROM ${one} EXCEPT ALL FROM ${other}))`;
    const [a, b] = [found, made].map((path) => `read_parquet('${path.replaceAll("'", "''")}')`) as [
      string,
      string,
    ];
    return database.query(`SELECT ${except(a, b)} + ${except(b, a)}`, [], signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new Failure('internal', `${RUN_FILES.verdictsParquet} is not a table of this run`, { cause });
    });
  });
  if (Number(rows[0]![0]) === 0) return;
  throw new Failure('internal', `${RUN_FILES.verdictsParquet} does not have the rows of the verdict log`);
}
