import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTables } from '../../../src/analysis/tables/make-tables.ts';
import type { RunConfig } from '../../../src/config/run-config.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { listForeignCategories } from '../../../src/domain/taxonomy.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { jsonl } from '../../helpers/documents.ts';
import { runConfig } from '../../helpers/run-config.ts';

/** The tables that are made from outcome lines, by name. */
export async function tablesOf(
  lines: readonly OutcomeLine[],
  output: Partial<RunConfig['output']>,
): Promise<ReadonlyMap<string, Buffer>> {
  const folder = await temporaryFolder();
  const verdicts = join(folder, 'verdicts.jsonl');
  await writeFile(verdicts, jsonl(...lines));
  const { sources, policy, output: usual } = runConfig('', []);
  const config = { sources, policy, output: { ...usual, formats: ['jsonl', 'csv'] as const, ...output } };
  const foreign = [...new Set(lines.flatMap((line) => listForeignCategories(line.subcategory_scores)))];
  const rows = await makeTables({
    config,
    foreign,
    verdicts,
    spill: join(folder, 'spilled'),
    signal: new AbortController().signal,
    create: async (name) => {
      const temporary = join(folder, name);
      await writeFile(temporary, '');
      return {
        name,
        temporary,
        write: async (content) => {
          for (const text of [content].flat()) await appendFile(temporary, text);
        },
        fill: (work) => work(),
        complete: async () => undefined,
      };
    },
  });
  const names = Object.keys(rows);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}
