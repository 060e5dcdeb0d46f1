import type { RunConfig } from '../../config/run-config.ts';
import { replaysGenerations } from '../../config/run-config.ts';
import { decidedByInWords } from '../../domain/words/decided-by-words.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORIES } from '../../domain/taxonomy.ts';
import { coverageText, spreadsheetTime, STREAM_COLUMNS } from './verdict-rows.ts';
import type { Cell } from './csv.ts';

/** A column of flagged.csv and flagged.xlsx. */
export interface FlaggedColumn {
  /** In flagged.csv. */
  readonly name: string;
  /** In flagged.xlsx. */
  readonly title: string;
  /** In flagged.xlsx, in characters. */
  readonly width: number;
  readonly cellOf: (line: OutcomeLine) => Cell;
  /** In flagged.xlsx; null: as it is. */
  readonly format: 'score' | 'time' | null;
}

/** What stands for categories where the guard flagged none. */
const NO_CATEGORY = 'No category';

const LABELS: ReadonlyMap<string, string> = new Map(CATEGORIES.map(({ key, label }) => [key, label]));

/** What was decided, and why. */
const DECISION: readonly FlaggedColumn[] = [
  column('decision', 'Decision', 10, (line) => line.decision),
  column('decided_by', 'Decided by', 34, (line) => decidedByInWords(line.decided_by)),
  column('score', 'Score', 8, (line) => line.score, 'score'),
  column('flagged_categories', 'Flagged categories', 30, categoryNames),
  column('guard_flagged', 'Flagged by the guard', 12, (line) => (line.flagged === true ? 'yes' : 'no')),
];

/** In runs with content only. */
const SNIPPET = column('snippet', 'Snippet', 60, (line) => line.snippet);

/** Where the item is. */
const PLACE: readonly FlaggedColumn[] = [
  column('path', 'File', 30, ({ source }) => source.path),
  column('row', 'Row', 8, ({ source }) => source.row),
  column('line', 'Line', 8, ({ source }) => source.line),
  column('part', 'Part', 12, (line) => line.part),
  column('turn', 'Turn', 6, (line) => line.turn),
  column('id', 'Id', 24, (line) => line.id),
  column('seq', 'Seq', 10, (line) => line.seq),
];

/** How it was judged. */
const JUDGED: readonly FlaggedColumn[] = [
  column('modality', 'Modality', 10, (line) => line.modality),
  column('coverage', 'Judged', 20, coverageText),
  column('worst_at', 'Worst part at', 12, ({ coverage }) => coverage?.worst_at),
];

const SCORES: readonly FlaggedColumn[] = CATEGORIES.map(({ key, label }) =>
  column(key, label, 12, (line) => line.subcategory_scores?.[key], 'score'),
);

const ORIGIN: readonly FlaggedColumn[] = [
  column('rule', 'Rule', 20, (line) => line.decided_by),
  column('same_as', 'Copy of seq', 10, (line) => line.same_as),
  column('guard', 'Guard', 24, (line) => line.endpoint),
  column('fingerprint', 'Fingerprint', 20, (line) => line.fingerprint),
  column('moderated_at_utc', 'Judged at (UTC)', 19, (line) => spreadsheetTime(line.moderated_at), 'time'),
];

const STREAM: readonly FlaggedColumn[] = STREAM_COLUMNS.map(([name, cellOf]) =>
  column(name, title(name), 14, ({ stream }) => stream && cellOf(stream)),
);

/** The columns of a run's flagged items: what a person reads first is first. */
export function flaggedColumns(config: Pick<RunConfig, 'sources' | 'output'>): readonly FlaggedColumn[] {
  const stream = replaysGenerations(config) ? STREAM : [];
  const content = config.output.includeContent ? [SNIPPET] : [];
  return [...DECISION, ...content, ...PLACE, ...JUDGED, ...SCORES, ...ORIGIN, ...stream];
}

/** Of categories outside the taxonomy the names that the guard gave. */
function categoryNames({ subcategory_flags: flags }: OutcomeLine): string {
  if (flags === null || flags.length === 0) return NO_CATEGORY;
  return flags.map((key) => LABELS.get(key) ?? key).join('; ');
}

function column(
  name: string,
  title: string,
  width: number,
  cellOf: FlaggedColumn['cellOf'],
  format: FlaggedColumn['format'] = null,
): FlaggedColumn {
  return { name, title, width, cellOf, format };
}

/** `first_flagged_seq` as `First flagged seq`. */
function title(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
