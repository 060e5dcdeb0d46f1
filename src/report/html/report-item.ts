import { decidedByInWords } from '../../domain/words/decided-by-words.ts';
import { Failure } from '../../domain/failure.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Restriction } from '../../domain/restriction/restricted.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { OUTCOME } from '../../record/outcomes/outcome-schema.ts';
import { flaggedCategories } from './flagged-categories.ts';
import type { ReportItem, RestrictedItem } from './report-data.ts';

/**
 * An item as the report lists it. `files` has the URLs of files by path. Failure('internal') for a line that is no
 * outcome: what is named is checked as a whole.
 */
export function reportItem(line: OutcomeLine, files: ReadonlyMap<string, string>): ReportItem {
  const { modality, decision, decided_by, score, latency_ms, error } = line;
  return {
    ...placeOf(line),
    ...{ modality, decision, score, latencyMs: latency_ms, error: error?.message ?? null },
    decidedBy: decision === null ? null : decidedByInWords(decided_by),
    categories: flaggedCategories(line),
    file: files.get(line.source.path) ?? null,
  };
}

/** A restricted item: it has no link, and nothing but its place. */
export function restrictedItem(line: OutcomeLine, category: Restriction): RestrictedItem {
  return { ...placeOf(line), decision: line.decision, category };
}

function placeOf(line: OutcomeLine): Pick<ReportItem, 'seq' | 'id' | 'path' | 'row' | 'part' | 'turn'> {
  if (!OUTCOME.safeParse(line).success) {
    throw new Failure('internal', `${RUN_FILES.verdicts} has a line that is no outcome`);
  }
  const { seq, id, source, part, turn } = line;
  return { seq, id, path: source.path, row: source.row, part, turn };
}
