import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveRunConfig } from '../../../src/config/resolve.ts';
import { wholeCoverage } from '../../../src/domain/coverage.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { GuardRequest } from '../../../src/domain/request.ts';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
import { failed } from '../../record/shards.ts';
import { wordsOf } from '../../helpers/judged-run.ts';
import { judgeBy, judgement } from '../../helpers/moderation.ts';
import { createdFrom, go } from '../../runs/small-run.ts';
import { typed } from '../../cli/terminal.ts';
import { makeFingerprint } from '../../../src/domain/fingerprint.ts';
import type { CategoryKey } from '../../../src/domain/taxonomy.ts';

/**
 * Judges a request by what its text holds: BLOCK, REVIEW, or FAIL for an error; PART for a verdict on a part of it;
 * everything else is allowed.
 */
export function outcomeByWords(request: GuardRequest): Outcome {
  const text = JSON.stringify(request);
  if (text.includes('FAIL')) return failed('GUARD_INTERNAL');
  const score = text.includes('BLOCK') ? 0.95 : text.includes('REVIEW') ? 0.6 : 0.1;
  const whole = wholeCoverage(request);
  const coverage = text.includes('PART') ? { ...whole, judged: whole.judged - 1 } : whole;
  const isFlagged = score > 0.9;
  return judgement(score, {
    coverage,
    flagged: isFlagged,
    subcategoryScores: isFlagged ? { hate: 0.9 } : null,
    subcategoryFlags: isFlagged ? ['hate'] : null,
  });
}
export const byWords = judgeBy(outcomeByWords);

const THRESHOLDS = { default: { review: 0.5, block: 0.8 } };
const POLICY = { thresholds: THRESHOLDS, allowFlagged: false, allowPartial: true };

/** Runs over paths in a folder, judged by `judge`; returns the run directory. */
export async function judgedRun(
  cwd: string,
  paths: readonly string[],
  { flags = {}, judge = byWords }: { readonly flags?: Record<string, unknown>; readonly judge?: Judge } = {},
): Promise<string> {
  const resolved = await resolveRunConfig({ paths, flags: flags as never, env: {}, cwd });
  const run = await createdFrom({ ...resolved.config, policy: POLICY });
  await go(run, judge);
  return run.dir;
}

/** What an export told and wrote; files by their names in `cwd`. */
export interface Exported {
  readonly status: number;
  readonly stderr: string;
  readonly result: {
    readonly rows: { readonly kept: number; readonly rejected: number };
    readonly by_reason: Record<string, number>;
    readonly sources: { readonly refused: number };
  } | null;
}

export async function exported(cwd: string, dir: string, ...flags: string[]): Promise<Exported> {
  const argv = ['export', dir, '--trust-run', '--json', ...flags];
  const { status, stdout, stderr } = await typed(argv, {
    context: { cwd, env: { XDG_STATE_HOME: join(cwd, '.state') } },
  });
  const results = stdout === '' ? [] : (JSON.parse(stdout) as NonNullable<Exported['result']>[]);
  return { status, stderr, result: results[0] ?? null };
}

/** Writes a file in a folder, runs over it and exports the clean rows to `out`; returns what is in that file. */
export async function cleanOf(
  cwd: string,
  name: string,
  content: string | Buffer,
  { out = `clean-${name}`, flags = [] as readonly string[], config = {} } = {},
): Promise<Buffer> {
  await writeFile(join(cwd, name), content);
  const dir = await judgedRun(cwd, [name], { flags: config });
  const { status, stderr } = await exported(cwd, dir, '--clean', out, ...flags);
  if (status !== 0 && status !== 5) throw new Error(stderr);
  return readFile(join(cwd, out));
}

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
  const judge = judgeBy((request) => {
    const row = byText.get(wordsOf(request))!;
    if (row.isError === true) return failed('GUARD_INTERNAL');
    return judgement(row.score, {
      flagged: row.flags !== undefined,
      subcategoryScores: row.scores ?? null,
      subcategoryFlags: row.flags ?? null,
      fingerprint: fingerprint.id,
    });
  }, fingerprint);
  const table = rows.map(({ text }, index) => `r${index},${text}\n`).join('');
  await writeFile(join(folder, name), `id,text\n${table}`);
  return judgedRun(folder, [name], { judge });
}
