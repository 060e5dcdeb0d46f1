/** Names of the files of a run directory. Directories are created with mode 0700 and files with 0600. */
export const RUN_FILES = {
  run: 'run.json',
  sources: 'sources.jsonl',
  /** SHA-256 of each source, as judged. */
  sourceHashes: 'source-hashes.jsonl',
  /** Files found in the corpora that are not read. */
  skipped: 'skipped.jsonl',
  plan: 'plan.jsonl',
  log: 'log',
  verdicts: 'verdicts.jsonl',
  verdictsCsv: 'verdicts.csv',
  verdictsParquet: 'verdicts.parquet',
  flaggedWorkbook: 'flagged.xlsx',
  /** Content that may show children in sexual contexts, separate from the flagged items. */
  restricted: 'restricted.csv',
  /** Items that were not judged, by cause and kind of file, with advice. */
  notJudged: 'not-judged.csv',
  /** Results for the requests of OpenAI Batch files. */
  batchOutput: 'batch_output.jsonl',
  batchErrors: 'batch_errors.jsonl',
  errors: 'errors.jsonl',
  summary: 'summary.json',
  manifest: 'manifest.json',
  manifestHash: 'manifest.sha256',
  manifestSignature: 'manifest.sig',
  /** Marks the run as purged: files with content and files that name single items were deleted on purpose. */
  purged: 'purged.json',
  /** The process that feeds the run, and requests to it, such as to pause. Not part of the record. */
  control: 'control',
  /** Human-readable report. Not part of the record: it names the manifest from which it was made. */
  report: 'report.html',
  /** Rows that were read from stdin, of which no other copy exists. Not part of the record. */
  stdin: 'stdin',
  /** Log of the content that people were shown in the dashboard, and the dashboard's index. Not part of the record. */
  review: 'review',
} as const;

/** In the folder that contains the runs: hashes of all content that was restricted in any of them. */
export const RESTRICTED_LIST = '.restricted-contents.jsonl';

/** In the folder that contains the runs: people's decisions on the content of all of them. */
export const DECISIONS_FILE = '.decisions.jsonl';

/** In `review`: the content that people were shown. */
export const REVEALS_FILE = 'reveals.jsonl';

/** Name of the n-th file of flagged items, where `part` counts from 1: `flagged.csv`, `flagged-2.csv`, … */
export function flaggedCsv(part: number): string {
  return part === 1 ? 'flagged.csv' : `flagged-${part}.csv`;
}

/** Whether a name is one that `flaggedCsv` returns. */
export function isFlaggedCsv(name: string): boolean {
  return /^flagged(-\d+)?\.csv$/.test(name);
}

/** Whether a final file is written only if there is content for it, so a file from an earlier pass may be outdated. */
export function isOccasional(name: string): boolean {
  const { flaggedWorkbook, restricted, notJudged, batchOutput, batchErrors } = RUN_FILES;
  return (
    isFlaggedCsv(name) ||
    [flaggedWorkbook, restricted, notJudged, batchOutput, batchErrors].some((each) => each === name)
  );
}

/** Name under which the manifest of an earlier pass is kept. */
export function manifestOfPass(pass: number): string {
  return `manifest.${pass}.json`;
}

/** The pass whose manifest is kept under a name; null for any other name. */
export function passOfManifest(name: string): number | null {
  const match = /^manifest\.(\d{1,9})\.json$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** Pads epochs and parts, so listings show them in order. Longer numbers are not truncated. */
function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}

/** Name in `log` of an epoch's commits. */
export function commitsName(epoch: number): string {
  return `${padded(epoch, 4)}-commits.jsonl`;
}

/** Name in `log` of a segment of an epoch; `part` counts from 1. */
export function segmentName(epoch: number, part: number): string {
  return `${padded(epoch, 4)}-${padded(part, 6)}.jsonl`;
}

/** The epoch of a file in `log`; null for any other name. */
export function epochOf(name: string): number | null {
  const match = /^(\d{4,9})-(commits|\d{6,9})\.jsonl$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** The epoch of the commits in a file in `log`; null for any other file. */
export function epochOfCommits(name: string): number | null {
  return name.endsWith('-commits.jsonl') ? epochOf(name) : null;
}

/**
 * Name under which a final file is written before it is renamed. It contains the epoch: the writer that claims the next
 * epoch removes temporary files of older ones, so an older writer that resumes late has nothing to rename.
 */
export function temporaryName(name: string, epoch: number): string {
  return `.${padded(epoch, 4)}-${name}.tmp`;
}

/** The epoch of a temporary file; null for any other name. */
export function epochOfTemporary(name: string): number | null {
  const match = /^\.(\d{4,9})-.+\.tmp$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** Name of the final file for a temporary name; null for any other name. */
export function finalNameOf(name: string): string | null {
  return /^\.\d{4,9}-(.+)\.tmp$/.exec(name)?.[1] ?? null;
}
