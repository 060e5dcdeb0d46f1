import type { ExportedLabels } from '../../dashboard/reviews/export-labels.ts';
import { plural } from '../../domain/text/plural.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import type { ExportResult } from '../../report/export/export-run.ts';
import type { Reason } from '../../report/export/reasons.ts';

/** The reasons in words. */
const WORDS: Readonly<Record<Reason, string>> = {
  restricted: 'may show children in sexual contexts, or share content with what may',
  block: 'decided block',
  reviewed: 'blocked by a person, or found to be of a category (--ignore-reviews)',
  review: 'decided review',
  error: 'ended in an error',
  partial: 'judged only in part',
  not_judged: 'not judged',
  not_selected: 'not part of the trial',
  around: 'around an array of records',
  no_object: 'not an object, so that nothing can be added',
  source_changed: 'in files that changed since the run',
  source_unreadable: 'in files that cannot be read',
  read_differently: 'in files that this version reads differently',
  header: 'in tables with a stray quote in the header',
  row_too_large: 'in files with a row that is too large',
  list_of_files: 'in lists of other files',
  whole_file: 'files without records, so that nothing can be added',
  container: 'in archives, pages and documents',
  name: 'in files whose names cannot be used in the output folder',
};

/** Formats the result of an export as text. The last line names the written files, if any. */
export function exportLines({ rows, by_reason, sources, out, rejected, manifest }: ExportResult): string[] {
  const all = rows.kept + rows.rejected;
  const reasons = Object.entries(by_reason) as [Reason, number][];
  return [
    `Kept ${rows.kept} of ${all} ${plural(all, 'row')}; ${rows.rejected} left out`,
    ...reasons.map(([reason, count]) => `  ${count} ${WORDS[reason]}`),
    ...sources.refused_paths.map(({ path, reason }) => `  nothing of ${quoteName(path)}: ${reason}`),
    ...(sources.refused > sources.refused_paths.length
      ? [`  and nothing of ${sources.refused - sources.refused_paths.length} more`]
      : []),
    ...(sources.converted === 0
      ? []
      : [`Written as UTF-8: ${sources.converted} ${plural(sources.converted, 'file')} of other encodings`]),
    `Left out, with the reasons: ${rejected}`,
    `Hashes: ${manifest}`,
    ...(out === null ? ['Nothing else was written'] : [out]),
  ];
}

/** Formats the result of a label export as text. */
export function labelLines({ out, reviewed, restricted }: ExportedLabels): string[] {
  const where = 'Nobody has reviewed this run yet: review it in the dashboard, which guardsweep serve starts';
  return [
    `Labels of ${reviewed} reviewed ${plural(reviewed, 'item')}`,
    ...(reviewed + restricted === 0 ? [where] : []),
    ...(restricted === 0 ? [] : [`Left out because they are restricted: ${restricted}`]),
    out,
  ];
}
