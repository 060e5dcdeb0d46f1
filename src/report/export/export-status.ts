import type { ExportResult } from './export-run.ts';
import type { Reason } from './reasons.ts';

/** Reasons that have nothing to do with what was judged: a decision, or the layout of a source. */
const JUDGED: ReadonlySet<Reason> = new Set([
  'restricted',
  'block',
  'reviewed',
  'review',
  'partial',
  'not_selected',
  'around',
  'no_object',
  'list_of_files',
  'whole_file',
]);

/** Exit status of an export: 5 if something was left out because it was not judged, or because its source changed. */
export function exportStatus({ by_reason, sources }: ExportResult, allowErrors: boolean): 0 | 5 {
  const reasons = [
    ...(Object.keys(by_reason) as Reason[]),
    ...sources.refused_paths.map(({ reason }) => reason),
  ];
  const isWhole = reasons.every((reason) => JUDGED.has(reason) || (allowErrors && reason === 'error'));
  return isWhole ? 0 : 5;
}
