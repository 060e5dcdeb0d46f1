import { z } from 'zod';
import type { Trial } from '../../config/run-config.ts';
import { plural } from '../../domain/text/plural.ts';
import type { PlanOutline } from '../outcomes/plan-outline.ts';

const count = z.int().min(0);

/** Records outside a trial, in summary.json and manifest.json. */
export const TRIAL = z.strictObject({
  limit: count.nullable().describe('Most records to judge, the first ones; null in a sample.'),
  sample: z.number().min(0).max(1).nullable().describe('Share of the records; null in a trial with a limit.'),
  seed: count.nullable().describe('The number that chose the sample; null in a trial with a limit.'),
  records_read: count
    .nullable()
    .describe('Records that were read; a file that is one item counts as one. Null while incomplete.'),
  records_not_selected: count
    .nullable()
    .describe('Records that were not chosen; null if not known: the rest of the corpora was not read.'),
});

/** Records that a trial did not judge. It judges a part of the corpora and makes no statement about the rest. */
export type TrialCounts = Readonly<z.infer<typeof TRIAL>>;

/** Counts of a trial; null for a run that judges everything. */
export function trialCounts(
  trial: Trial | null | undefined,
  { closed }: Pick<PlanOutline, 'closed'>,
): TrialCounts | null {
  if (trial === null || trial === undefined) return null;
  const { limit, sample, seed } = trial;
  const { read, selected } = closed[0]?.records ?? { read: null, selected: null };
  const isRestUnread = read === null || (limit !== null && read >= limit);
  return {
    limit,
    sample,
    seed,
    records_read: read,
    records_not_selected: isRestUnread ? null : read - selected,
  };
}

/** The headline of a trial. */
export function trialText({ limit, sample, seed, records_read, records_not_selected }: TrialCounts): string {
  const share = `--sample ${Number(((sample ?? 0) * 100).toPrecision(9))}%, --seed ${seed}`;
  if (records_read === null) {
    return limit === null
      ? `TRIAL: only a random share of the records (${share})`
      : `TRIAL: only the first records (--limit ${limit})`;
  }
  const judged = records_read - (records_not_selected ?? 0);
  if (limit !== null) {
    const all = `${number(judged)} ${plural(judged, 'record')}`;
    return records_not_selected === null
      ? `TRIAL: only the first ${all} (--limit ${limit}); the rest of the corpus was not read`
      : `TRIAL: all ${all} of the corpus (--limit ${limit})`;
  }
  const all = `${number(records_read)} ${plural(records_read, 'record')}`;
  return judged === records_read
    ? `TRIAL: all ${all} (${share})`
    : `TRIAL: only ${number(judged)} of ${all} (${share}); the others were not judged`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
