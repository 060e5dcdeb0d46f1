import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFingerprint } from '../../src/domain/fingerprint.ts';
import type { CategoryKey } from '../../src/domain/taxonomy.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { judgement } from '../helpers/moderation.ts';
import { failed } from '../record/run-fixture.ts';
import { judgedRun } from './export/judged-run.ts';

/** What a guard is to say of a text. */
export interface Told {
  readonly text: string;
  readonly score: number;
  readonly scores?: Readonly<Partial<Record<CategoryKey, number>>>;
  readonly flags?: readonly CategoryKey[];
  readonly isError?: boolean;
}

/**
 * A finished run over a table of these texts, with the ids `r0`, `r1`, …, in a file of the given name. Flagged is what
 * has flags. `model` is one hex digit that tells its fingerprint from another's.
 */
export async function scoredRun(
  folder: string,
  name: string,
  rows: readonly Told[],
  model = 'a',
): Promise<string> {
  const fingerprint = makeFingerprint([['weights', model.repeat(64)]])!;
  const byText = new Map(rows.map((row) => [row.text, row]));
  const judge: Judge = {
    fingerprints: new Map([[fingerprint.id, fingerprint]]),
    judge: async (requests) =>
      requests.map((request) => {
        const row = byText.get(request.requestType === 'prompt' && 'text' in request ? request.text : '')!;
        if (row.isError === true) return failed('GUARD_INTERNAL');
        return judgement(row.score, {
          flagged: row.flags !== undefined,
          subcategoryScores: row.scores ?? null,
          subcategoryFlags: row.flags ?? null,
          fingerprint: fingerprint.id,
        });
      }),
  };
  const table = rows.map(({ text }, index) => `r${index},${text}\n`).join('');
  await writeFile(join(folder, name), `id,text\n${table}`);
  return judgedRun(folder, [name], { judge });
}
