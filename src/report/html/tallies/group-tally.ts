import type { OutcomeLine } from '../../../domain/outcome.ts';
import { placeInCorpus } from '../../../ingest/sources/corpus-roots.ts';
import type { GroupRow } from '../report-data.ts';

/** Corpora that are counted apart; a run over a glob or a job file may have thousands. */
const MAX_CORPORA = 99;

type Counts = { -readonly [Key in keyof GroupRow]: GroupRow[Key] };

/** Counts items by corpus and by modality. */
export class GroupTally {
  /** By name; null: all other corpora. */
  readonly #corpora = new Map<string | null, Counts>();
  readonly #modalities = new Map<string, Counts>();

  add(line: OutcomeLine): void {
    const { corpus } = placeInCorpus(line.source);
    const isNamed = this.#corpora.has(corpus) || this.#corpora.size < MAX_CORPORA;
    count(this.#corpora, isNamed ? corpus : null, line);
    count(this.#modalities, line.modality ?? 'unknown', line);
  }

  /** In the order of the sources. */
  corpora(): GroupRow[] {
    return [...this.#corpora.values()].sort((a, b) => Number(a.name === null) - Number(b.name === null));
  }

  /** The largest first. */
  modalities(): GroupRow[] {
    return [...this.#modalities.values()].sort((a, b) => b.items - a.items);
  }
}

function count<Name extends string | null>(
  groups: Map<Name, Counts>,
  name: Name,
  { decision, coverage }: OutcomeLine,
): void {
  let counts = groups.get(name);
  if (counts === undefined) {
    counts = { name, items: 0, allow: 0, review: 0, block: 0, errors: 0, partial: 0 };
    groups.set(name, counts);
  }
  counts.items++;
  counts[decision ?? 'errors']++;
  if (coverage !== null && coverage.judged < coverage.total) counts.partial++;
}
