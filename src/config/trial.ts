import { mistake } from './mistake.ts';
import type { Trial } from './run-config.ts';
import { LIMIT, SAMPLE, SEED } from './settings/entries/sampling.ts';
import { given, type Sources, valueOf } from './settings/given.ts';

/** The trial that `--limit` or `--sample` asks for; null without them. Failure('usage') for both, or a seed alone. */
export async function trialOf(from: Sources): Promise<Trial | null> {
  const limit = await valueOf(LIMIT, from);
  const sample = await valueOf(SAMPLE, from);
  const seed = await valueOf(SEED, from);
  const placeOf = (setting: typeof LIMIT | typeof SEED): string => given(setting, from)!.texts[0].place;
  if (limit !== null && sample !== null) {
    throw mistake(placeOf(LIMIT), 'goes without --sample: give one of them');
  }
  if (sample !== null) return { limit: null, sample, seed };
  if (given(SEED, from) !== null) throw mistake(placeOf(SEED), 'goes with --sample only');
  return limit === null ? null : { limit, sample: null, seed: null };
}
