import type { SourceConfig } from '../../config/run-config.ts';
import type { SidecarSnapshot, SourceSnapshot } from '../../ingest/sources/sources-file.ts';
import type { LeftOut, RowCounts } from './left-out.ts';
import type { Keeping } from './reasons.ts';
import type { WrittenFile } from './output.ts';
import type { OutputPlace } from './output.ts';
import type { VerdictCursor } from './verdict-cursor.ts';

/**
 * The kind of an export. `clean`: the rows that are allowed (with `keepReview` also those to be reviewed), unchanged.
 * `annotate`: all rows with the run's findings under `key`. Neither writes a restricted row.
 */
export type ExportKind =
  | { readonly kind: 'clean'; readonly keepReview: boolean; readonly ignoreReviews: boolean }
  | { readonly kind: 'annotate'; readonly key: string };

/** Everything that the export of a source needs. */
export interface SourceExport {
  readonly what: ExportKind;
  readonly cursor: VerdictCursor;
  readonly place: OutputPlace;
  readonly leftOut: LeftOut;
  /** Paths of the copied captions: files can share one. */
  readonly captions: Set<string>;
  readonly keeping: Keeping;
  /** Max size of a text item in UTF-8 bytes. */
  readonly itemBytes: number;
  readonly signal: AbortSignal;
}

/** A source as the run read it. */
export interface JudgedSource {
  readonly source: SourceSnapshot;
  readonly config: SourceConfig;
  /** SHA-256 of the file as it was judged; null if the run did not determine it. */
  readonly sha256: string | null;
  /** The text that was judged with the file and is not a source itself; null if there is none. */
  readonly caption: SidecarSnapshot | null;
}

/** The result of exporting a source. */
export interface ExportedSource {
  readonly counts: RowCounts;
  /** Null if no part of it was written. */
  readonly file: WrittenFile | null;
  /** The caption that was copied with the file; null if there was none. */
  readonly caption: WrittenFile | null;
  /** Whether its rows were converted to UTF-8. */
  readonly isConverted: boolean;
}
