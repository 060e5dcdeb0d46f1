/** Names of the files of a run directory. Directories are made with mode 0700 and files with 0600. */
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
  /** What may show children in sexual contexts, apart from the flagged items. */
  restricted: 'restricted.csv',
  /** What was not judged, by cause and kind of file, and what would help. */
  notJudged: 'not-judged.csv',
  /** Results of the requests of OpenAI Batch files. */
  batchOutput: 'batch_output.jsonl',
  batchErrors: 'batch_errors.jsonl',
  errors: 'errors.jsonl',
  summary: 'summary.json',
  manifest: 'manifest.json',
  manifestHash: 'manifest.sha256',
  manifestSignature: 'manifest.sig',
  /** Says that the run was purged: what bears content, and what names single items, was deleted on purpose. */
  purged: 'purged.json',
  /** Which process feeds the run, and requests to it, such as to pause. Not part of the record. */
  control: 'control',
  /** For people. Not part of the record: it names the manifest that it was made from. */
  report: 'report.html',
  /** The rows that were read from stdin, of which there is no other copy. Not part of the record. */
  stdin: 'stdin',
  /** What people were shown in the dashboard, and its index. Not part of the record. */
  review: 'review',
} as const;

/** In a folder of runs, beside them: hashes of all contents that were restricted in one of them. */
export const RESTRICTED_LIST = '.restricted-contents.jsonl';

/** In a folder of runs, beside them: what people decided on the contents of all of them. */
export const DECISIONS_FILE = '.decisions.jsonl';

/** In `review`: which contents people were shown. */
export const REVEALS_FILE = 'reveals.jsonl';

/** The part-th file of flagged items, from 1: `flagged.csv`, `flagged-2.csv`, … */
export function flaggedCsv(part: number): string {
  return part === 1 ? 'flagged.csv' : `flagged-${part}.csv`;
}

/** Whether a name is one that `flaggedCsv` returns. */
export function isFlaggedCsv(name: string): boolean {
  return /^flagged(-\d+)?\.csv$/.test(name);
}

/** Whether a final file is written only if there is something for it, so that one of an earlier pass may be outdated. */
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

/** Epochs and parts are padded so that listings show them in order. Numbers with more digits are not cut. */
function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}

/** Name in `log` of an epoch's commits. */
export function commitsName(epoch: number): string {
  return `${padded(epoch, 4)}-commits.jsonl`;
}

/** Name in `log` of an epoch's part-th segment, from 1. */
export function segmentName(epoch: number, part: number): string {
  return `${padded(epoch, 4)}-${padded(part, 6)}.jsonl`;
}

/** The epoch of a file in `log`; null for any other name. */
export function epochOf(name: string): number | null {
  const match = /^(\d{4,9})-(commits|\d{6,9})\.jsonl$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** The epoch whose commits a file in `log` holds; null for any other file. */
export function epochOfCommits(name: string): number | null {
  return name.endsWith('-commits.jsonl') ? epochOf(name) : null;
}

/**
 * Name under which a final file is written before it is renamed. It contains the epoch: the writer that claims the next
 * epoch removes temporary files of older ones, so an older writer that wakes up late has nothing to rename.
 */
export function temporaryName(name: string, epoch: number): string {
  return `.${padded(epoch, 4)}-${name}.tmp`;
}

/** The epoch of a temporary file; null for any other name. */
export function epochOfTemporary(name: string): number | null {
  const match = /^\.(\d{4,9})-.+\.tmp$/.exec(name);
  return match === null ? null : Number(match[1]);
}

/** The final file that is written under a temporary name; null for any other name. */
export function finalNameOf(name: string): string | null {
  return /^\.\d{4,9}-(.+)\.tmp$/.exec(name)?.[1] ?? null;
}
