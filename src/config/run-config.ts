import { hash } from 'node:crypto';
import type { GuardPolicy } from '../domain/guard/guard-family.ts';
import type { Policy } from '../domain/policy.ts';
import type { JudgedColumns, OtherEncoding } from './judged-columns.ts';
import type { CategoryName } from '../domain/taxonomy.ts';

/** How a file is read. Without a forced one, the layout is recognised from the file's content. */
type Layout = 'csv' | 'jsonl' | 'json' | 'text';

export const LAYOUTS: readonly Layout[] = ['csv', 'jsonl', 'json', 'text'];

/** Whether the first row of a table names its columns, or is data like the others. */
type Header = 'yes' | 'no';

export const HEADERS: readonly Header[] = ['yes', 'no'];

/** Whether a conversation is judged once, as a whole, or at every user and assistant turn. */
export type Audit = 'final' | 'every-turn';

export const AUDITS: readonly Audit[] = ['final', 'every-turn'];

/** How generations are replayed as moderation streams. */
export interface Replay {
  /** Maximum characters of a chunk, for responses that were not recorded in chunks. */
  readonly chunkChars: number;
  /** Chunks from one verdict to the next. */
  readonly cadenceChunks: number;
}

/** How a file is read. */
export interface SourceSettings {
  /** Columns to judge, joined by a blank line when there are several; null: recognised from the columns' names. */
  readonly textColumns: readonly string[] | null;
  readonly idColumn: string | null;
  readonly audit: Audit;
  /** Null: a response is judged as a whole. */
  readonly asStream: Replay | null;
  /** WHATWG encoding label; null: UTF-8, or UTF-16 by byte order mark. */
  readonly encoding: string | null;
  readonly layout: Layout | null;
  /** Whether the first row of a table names its columns; null: told from the rows. */
  readonly header: Header | null;
}

/** How the files of a source that match a glob are read. */
export interface FileSettings extends SourceSettings {
  /** A glob of paths below the source; without a slash, of names in any folder. */
  readonly files: string;
}

/** One corpus: what the user named, and how to read what is found there. */
export interface SourceConfig extends SourceSettings {
  /** Absolute path of a file or folder, or an absolute glob. */
  readonly path: string;
  /** The source as the user wrote it. */
  readonly given: string;
  /** The last that a file matches is used instead of the settings of the source; absent if there are none. */
  readonly for?: readonly FileSettings[];
}

/** How a clip longer than the guard accepts is judged: whole, in windows, or only its beginning. */
export type LongAudio = 'windows' | 'truncate';

export const LONG_AUDIO: readonly LongAudio[] = ['windows', 'truncate'];

/** How items that do not go to the guard in one piece are judged. */
export interface Judging {
  /** Max frames or pages of one image that are judged, 1 … 64. */
  readonly frames: number;
  readonly longAudio: LongAudio;
  /** Seconds of a video that one frame stands for, 1 … 3600. */
  readonly videoInterval: number;
  /** Max frames of one video that are judged, 1 … 1024. */
  readonly videoFrames: number;
}

export const MAX_FRAMES = 64;
export const MAX_VIDEO_INTERVAL = 3600;
export const MAX_VIDEO_FRAMES = 1024;

/**
 * The contents with known verdicts that every guard is asked for before it judges. `workers`: a fleet judges the run,
 * whose workers have their own.
 */
export type CanaryChoice =
  | { readonly from: 'built-in' | 'off' | 'workers' }
  | {
      readonly from: 'file';
      /** Absolute. */
      readonly path: string;
      /** SHA-256 of the file, 64 hex digits. */
      readonly sha256: string;
    };

/** How large a share of a fleet a run gets beside other runs. */
export type Priority = 'low' | 'normal' | 'high';

export const PRIORITIES: readonly Priority[] = ['low', 'normal', 'high'];

type OutputFormat = 'jsonl' | 'csv' | 'parquet';

export const OUTPUT_FORMATS: readonly OutputFormat[] = ['jsonl', 'csv', 'parquet'];

/** The delimiter of tables. */
export type CsvSeparator = ',' | ';' | '\t';

/** The part of the corpora that a trial judges: the first records, or a random share of them. */
export type Trial =
  | { readonly limit: number; readonly sample: null; readonly seed: null }
  | { readonly limit: null; readonly sample: number; readonly seed: number };

/** Limits of the gates, as shares from 0 to 1. A run whose share is higher fails the gate; null means no gate. */
export interface Gates {
  /** Share of verdicts with decision review or block. */
  readonly flaggedRate: number | null;
  /** Share of items that ended in an error. */
  readonly errorRate: number | null;
  /** Share of verdicts with decision block. */
  readonly blockedRate: number | null;
  /** Share of items that ended in an error or were judged only in part. */
  readonly uncoveredRate: number | null;
  /** Share of verdicts flagged in the category. */
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
   * Endpoint URLs as configured: `embedded:`, `grpc://host:8001`, `grpcs://…`. None: a fleet judges the run, whose
   * workers name their own.
   */
  readonly guards: readonly string[];
  /** Fingerprint id that every guard must answer with. */
  readonly expectFingerprint: string | null;
  /** The written policy, for models that follow one. */
  readonly guardPolicy?: GuardPolicy;
  readonly policy: Policy;
  readonly output: {
    /** Absolute folder in which the run directory is created. */
    readonly dir: string;
    readonly formats: readonly OutputFormat[];
    /** Options of tables. */
    readonly csvSeparator: CsvSeparator;
    /** Whether outcomes of `review` and `block` hold a piece of their content. */
    readonly includeContent: boolean;
  };
  /** Absolute folder of the verdict store. */
  readonly store: string;
  /** Whether items get the verdicts that equal content has in the store or in this run. */
  readonly reuse: boolean;
  /** Whether that holds for verdicts of guards that only declare which model they run. Default: false. */
  readonly trustDeclared?: boolean;
  /** Null: the run judges everything. */
  readonly trial: Trial | null;
  readonly failIf: Gates;
  /** Finish with exit with status 0 even if some items were not judged. */
  readonly allowErrors: boolean;
  /** Finish with exit with status 0 even if the sources contain no items. */
  readonly allowEmpty: boolean;
  /** Priority on a fleet; default: normal. */
  readonly priority?: Priority;
  /** On a fleet: only workers with one of these guards judge the run. Undefined: every worker does. */
  readonly workerGuards?: readonly string[];
  /** How long a run waits while no guard is ready before it stops, in milliseconds. */
  readonly maxWaitMs: number;
  readonly judging: Judging;
  readonly canaries: CanaryChoice;
  readonly limits: {
    /** Largest text item in UTF-8 bytes. */
    readonly itemBytes: number;
    /** Largest media file in bytes. */
    readonly mediaBytes: number;
    readonly shardItems: number;
    /** Max content bytes in one shard; a single larger item is a shard of its own. */
    readonly shardBytes: number;
    /** The same two bounds for media files. They take longer and do not travel: their size is the file's. */
    readonly mediaShardItems: number;
    readonly mediaShardBytes: number;
    /** Of a file that holds others. */
    readonly unpack: {
      /** How deep files may be inside each other; 1: in a file that is not inside another. */
      readonly depth: number;
      /** Parts of one file, at all depths together. */
      readonly parts: number;
      /** Bytes of all its parts together. */
      readonly bytes: number;
      /** How many times its own size it may expand to. */
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

/** Whether a run replays generations of any source. */
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
  /** Files found in the corpora that are not sources, by reason: files of earlier runs, sidecars, files of the desktop. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Paths of tables that were read with the width of their rows, which is not their header's. */
  readonly fitted_headers: readonly string[];
  /** The judged columns of the tables, found before the run began; absent if no table was examined. */
  readonly tables?: readonly JudgedColumns[];
  /** Paths of tables whose first row was taken as data; absent if none. */
  readonly without_header?: readonly string[];
  /** Found before the run began; absent if none. */
  readonly other_encodings?: readonly OtherEncoding[];
  /** SHA-256 of sources.jsonl, 64 hex digits: which files the run is about cannot change either. */
  readonly sources_sha256: string;
  /** Bytes and SHA-256 of skipped.jsonl. */
  readonly skipped_sha256: string;
  readonly config: RunConfig;
}

/** Tells a run from any other, also of the same name: SHA-256 of its record as JSON, 64 hex digits. */
export function recordSha256(record: RunRecord): string {
  return hash('sha256', JSON.stringify(record));
}
