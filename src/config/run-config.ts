import { hash } from 'node:crypto';
import type { GuardPolicy } from '../domain/guard/guard-family.ts';
import type { Policy } from '../domain/policy.ts';
import type { JudgedColumns, OtherEncoding } from './judged-columns.ts';
import type { CategoryName } from '../domain/taxonomy.ts';

/** File format of a source. Unless it is forced, it is recognised from the file's content. */
type Layout = 'csv' | 'jsonl' | 'json' | 'text';

export const LAYOUTS: readonly Layout[] = ['csv', 'jsonl', 'json', 'text'];

/** Whether the first row of a table names its columns or is data like the others. */
type Header = 'yes' | 'no';

export const HEADERS: readonly Header[] = ['yes', 'no'];

/** Whether a conversation is judged once as a whole, or at every user and assistant turn. */
export type Audit = 'final' | 'every-turn';

export const AUDITS: readonly Audit[] = ['final', 'every-turn'];

/** How generations are replayed as moderation streams. */
export interface Replay {
  /** Maximum characters per chunk, for responses that were not recorded in chunks. */
  readonly chunkChars: number;
  /** Number of chunks between verdicts. */
  readonly cadenceChunks: number;
}

/** How a file is read. */
export interface SourceSettings {
  /** Columns to judge, joined by a blank line if there are several; null to recognise them by their names. */
  readonly textColumns: readonly string[] | null;
  readonly idColumn: string | null;
  readonly audit: Audit;
  /** Null to judge a response as a whole. */
  readonly asStream: Replay | null;
  /** WHATWG encoding label; null for UTF-8, or UTF-16 with a byte order mark. */
  readonly encoding: string | null;
  readonly layout: Layout | null;
  /** Whether the first row of a table names its columns; null to decide from the rows. */
  readonly header: Header | null;
}

/** How the files of a source that match a glob are read. */
export interface FileSettings extends SourceSettings {
  /** A glob for paths below the source; without a slash, for file names in any folder. */
  readonly files: string;
}

/** One corpus: what the user named, and how to read the files found there. */
export interface SourceConfig extends SourceSettings {
  /** Absolute path of a file or folder, or an absolute glob. */
  readonly path: string;
  /** The source as the user wrote it. */
  readonly given: string;
  /**
   * Settings for some files, used instead of those of the source. If a file matches several, the last applies; absent
   * if there are none.
   */
  readonly for?: readonly FileSettings[];
}

/** How to judge an audio clip longer than the guard accepts: whole, in windows, or only its beginning. */
export type LongAudio = 'windows' | 'truncate';

export const LONG_AUDIO: readonly LongAudio[] = ['windows', 'truncate'];

/** How items that do not go to the guard in one piece are judged. */
export interface Judging {
  /** Maximum frames or pages judged per image, 1 … 64. */
  readonly frames: number;
  readonly longAudio: LongAudio;
  /** Seconds of video represented by one frame, 1 … 3600. */
  readonly videoInterval: number;
  /** Maximum frames judged per video, 1 … 1024. */
  readonly videoFrames: number;
}

export const MAX_FRAMES = 64;
export const MAX_VIDEO_INTERVAL = 3600;
export const MAX_VIDEO_FRAMES = 1024;

/**
 * Origin of the canaries: content with known verdicts that every guard is asked to judge first. `workers` means that a
 * fleet judges the run and its workers have their own.
 */
export type CanaryChoice =
  | { readonly from: 'built-in' | 'off' | 'workers' }
  | {
      readonly from: 'file';
      /** Absolute path. */
      readonly path: string;
      /** SHA-256 of the file, 64 hex digits. */
      readonly sha256: string;
    };

/** Scheduling priority of a run on a fleet with other runs. */
export type Priority = 'low' | 'normal' | 'high';

export const PRIORITIES: readonly Priority[] = ['low', 'normal', 'high'];

type OutputFormat = 'jsonl' | 'csv' | 'parquet';

export const OUTPUT_FORMATS: readonly OutputFormat[] = ['jsonl', 'csv', 'parquet'];

/** The delimiter of tables. */
export type CsvSeparator = ',' | ';' | '\t';

/** The part of the corpora that a trial judges: the first records, or a random sample. */
export type Trial =
  | { readonly limit: number; readonly sample: null; readonly seed: null }
  | { readonly limit: null; readonly sample: number; readonly seed: number };

/** Limits of the gates, as fractions from 0 to 1. A run that exceeds one fails the gate; null means no gate. */
export interface Gates {
  /** Fraction of verdicts with decision review or block. */
  readonly flaggedRate: number | null;
  /** Fraction of items that ended in an error. */
  readonly errorRate: number | null;
  /** Fraction of verdicts with decision block. */
  readonly blockedRate: number | null;
  /** Fraction of items that ended in an error or were judged only in part. */
  readonly uncoveredRate: number | null;
  /** Fractions of verdicts flagged in each category. */
  readonly categories: Readonly<Partial<Record<CategoryName, number>>>;
}

export const NO_GATES: Gates = {
  ...{ flaggedRate: null, errorRate: null, blockedRate: null, uncoveredRate: null, categories: {} },
};

/** The frozen configuration of a run, as kept in run.json. Holds no secrets. */
export interface RunConfig {
  readonly name: string;
  readonly sources: readonly SourceConfig[];
  /**
   * Endpoint URLs as configured: `embedded:`, `grpc://host:8001`, `grpcs://…`. Empty if a fleet judges the run, whose
   * workers name their own.
   */
  readonly guards: readonly string[];
  /** Fingerprint id that every guard must report. */
  readonly expectFingerprint: string | null;
  /** The written policy, for models that follow one. */
  readonly guardPolicy?: GuardPolicy;
  readonly policy: Policy;
  readonly output: {
    /** Absolute folder in which the run directory is created. */
    readonly dir: string;
    readonly formats: readonly OutputFormat[];
    /** Delimiter of tables. */
    readonly csvSeparator: CsvSeparator;
    /** Whether outcomes of `review` and `block` include a snippet of their content. */
    readonly includeContent: boolean;
  };
  /** Absolute folder of the verdict store. */
  readonly store: string;
  /** Whether items reuse verdicts on equal content from the store or this run. */
  readonly reuse: boolean;
  /** Whether to reuse verdicts even if their guards only declare which model they run. Default: false. */
  readonly trustDeclared?: boolean;
  /** Null to judge everything. */
  readonly trial: Trial | null;
  readonly failIf: Gates;
  /** Exit with status 0 even if some items were not judged. */
  readonly allowErrors: boolean;
  /** Exit with status 0 even if the sources contain no items. */
  readonly allowEmpty: boolean;
  /** Priority on a fleet; default: normal. */
  readonly priority?: Priority;
  /** Only workers of a fleet with one of these guards judge the run. Undefined to allow every worker. */
  readonly workerGuards?: readonly string[];
  /** How long a run waits while no guard is ready before it stops, in milliseconds. */
  readonly maxWaitMs: number;
  readonly judging: Judging;
  readonly canaries: CanaryChoice;
  readonly limits: {
    /** Maximum size of a text item in UTF-8 bytes. */
    readonly itemBytes: number;
    /** Maximum size of a media file in bytes. */
    readonly mediaBytes: number;
    readonly shardItems: number;
    /** Maximum content bytes in one shard; a single larger item gets its own shard. */
    readonly shardBytes: number;
    /**
     * The same two limits for media files. They take longer to judge and are not transferred; their size is that of the
     * file.
     */
    readonly mediaShardItems: number;
    readonly mediaShardBytes: number;
    /** Limits for a file that contains others. */
    readonly unpack: {
      /** Maximum nesting depth; 1 allows only files directly inside the outermost one. */
      readonly depth: number;
      /** Maximum parts of one file, across all depths. */
      readonly parts: number;
      /** Maximum total bytes of its parts. */
      readonly bytes: number;
      /** Maximum ratio of its expanded size to its own size. */
      readonly ratio: number;
    };
  };
}

export const DEFAULT_LIMITS: RunConfig['limits'] = {
  itemBytes: 16 * 1024 * 1024,
  mediaBytes: 200 * 1024 * 1024,
  shardItems: 512,
  shardBytes: 1024 * 1024,
  mediaShardItems: 32,
  mediaShardBytes: 64 * 1024 * 1024,
  unpack: { depth: 3, parts: 10_000, bytes: 1024 * 1024 * 1024, ratio: 200 },
};

/** Whether a run replays the generations of any source. */
export function replaysGenerations({ sources }: Pick<RunConfig, 'sources'>): boolean {
  return sources.some(({ asStream }) => asStream !== null);
}

/** run.json: written first, never changed. */
export interface RunRecord {
  readonly schema: 1;
  /** Name of the run directory. */
  readonly run: string;
  readonly tool: { readonly name: 'guardsweep'; readonly version: string };
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** Files found in the corpora that are not sources, by reason: files of earlier runs, sidecars, OS junk files. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Paths of tables whose rows differ in width from the header; they were read with the rows' width. */
  readonly fitted_headers: readonly string[];
  /** The judged columns of tables, determined before the run began; absent if no table was examined. */
  readonly tables?: readonly JudgedColumns[];
  /** Paths of tables whose first row was read as data; absent if none. */
  readonly without_header?: readonly string[];
  /** Files in other encodings, found before the run began; absent if none. */
  readonly other_encodings?: readonly OtherEncoding[];
  /** SHA-256 of sources.jsonl, 64 hex digits, which also fixes the run's list of files. */
  readonly sources_sha256: string;
  /** SHA-256 of skipped.jsonl. */
  readonly skipped_sha256: string;
  readonly config: RunConfig;
}

/** Identifies a run, even among runs of the same name: SHA-256 of its record as JSON, 64 hex digits. */
export function recordSha256(record: RunRecord): string {
  return hash('sha256', JSON.stringify(record));
}
