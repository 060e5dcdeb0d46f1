import { basename, join } from 'node:path';
import { z } from 'zod';
import { systemPath } from '../../../domain/file-path.ts';
import { readHead, readWholeFile } from '../../../files/open-file.ts';
import {
  epochOfCommits,
  epochOf,
  finalNameOf,
  isFlaggedCsv,
  passOfManifest,
  reportStart,
  REVIEW_FILES,
  reviewLineStart,
  RUN_FILES,
} from '../../../files/run-files.ts';
import { isNestedTooDeeply } from '../../../formats/json/json-record.ts';

/**
 * Records of earlier runs inside a corpus are not judged. Any folder can be made to look like a run directory, so each
 * file is checked: only a file that has one of our names, and begins like our files of that name, belongs to a run.
 */

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The parts of run.json that all versions have in common. */
const RUN_RECORD = z.looseObject({
  schema: z.literal(1),
  run: z.string().regex(/^\d{8}T\d{6}Z-[a-z0-9-]+$/),
  tool: z.strictObject({ name: z.literal('guardsweep'), version: z.string() }),
  created_at: z.iso.datetime(),
  skipped: z.record(z.string(), z.int().min(0)),
  sources_sha256: sha256,
  config: z.looseObject({
    name: z.string(),
    sources: z.array(z.looseObject({ path: z.string() })).min(1),
    policy: z.looseObject({}),
    output: z.looseObject({ dir: z.string(), formats: z.array(z.string()) }),
  }),
});

/** Enough for the configuration of a run with ten thousand named files. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/** Name of the run whose directory is at this real path; null if it is not a run directory. */
export async function runOfDirectory(real: string): Promise<string | null> {
  try {
    const path = systemPath(join(real, RUN_FILES.run));
    const bytes = await readWholeFile(path, { maxBytes: MAX_RECORD_BYTES, links: 'refuse' });
    if (isNestedTooDeeply(bytes)) return null;
    const { run } = RUN_RECORD.parse(JSON.parse(bytes.toString()));
    return run === basename(real) ? run : null;
  } catch {
    return null;
  }
}

const HEAD_BYTES = 512;

/** Whether the run wrote the file at `path`; `relative` is the path below the run directory. */
export async function isFileOfRun(path: string, relative: string, run: string): Promise<boolean> {
  const start = startOf(relative, run);
  if (start === null) return false;
  const head = await readHead(systemPath(path), HEAD_BYTES);
  return head !== null && (head.length === 0 || start.test(head.toString('latin1')));
}

/** An empty file. */
const EMPTY = /^$/;

/** How a file of a run begins, byte by byte, by its path below the run directory; null for other files. */
function startOf(relative: string, run: string): RegExp | null {
  const named = JSON.stringify(run);
  const outcomes = literally(`{"schema":1,"run":${named},"seq":`);
  const table = /^\xef\xbb\xbfseq([,;\t])path\1row\1line\1id\1part\1turn\1decision\1decided_by\1score\1/;
  const flagged = /^\xef\xbb\xbfdecision([,;\t])decided_by\1score\1flagged_categories\1/;
  const manifest = literally(`{\n  "schema": 1,\n  "run": ${named},`);
  const [folder, name] = relative.includes('/') ? relative.split('/', 2) : ['', relative];
  if (folder === RUN_FILES.log) {
    if (epochOfCommits(name!) !== null) return literally('{"claim":');
    return epochOf(name!) === null ? null : outcomes;
  }
  if (folder === RUN_FILES.control) {
    if (name === 'paused' || name === 'cancelled') return EMPTY;
    if (name === 'seal') return /^[0-9a-f]{64}\n$/;
    return /^feed-\d{4,}\.json$/.test(name!) ? literally('{"host":') : null;
  }
  if (folder === RUN_FILES.review) {
    return Object.values<string>(REVIEW_FILES).includes(name!) ? literally(reviewLineStart(run)) : null;
  }
  if (folder !== '') return null;
  // A temporary name stands for the final file that was being written.
  const final = finalNameOf(relative) ?? relative;
  if (isFlaggedCsv(final)) return flagged;
  if (passOfManifest(final) !== null) return manifest;
  switch (final) {
    case RUN_FILES.run:
      return literally(`{\n  "schema": 1,\n  "run": ${named},`);
    case RUN_FILES.sources:
      return literally('{"source":0,"corpus":');
    case RUN_FILES.skipped:
      return literally('{"path":');
    case RUN_FILES.plan:
      return /^\{"(?:opened|shard)":/;
    case RUN_FILES.verdicts:
    case RUN_FILES.errors:
      return outcomes;
    case RUN_FILES.conversations:
      return literally(`{"schema":1,"run":${named},"id":`);
    case RUN_FILES.verdictsCsv:
      return table;
    case RUN_FILES.verdictsParquet:
      return new RegExp(`^PAR1[^]{1,64}(?:${escaped(run)}|duckdb_schema[^]{1,16}run)`);
    case RUN_FILES.flaggedWorkbook:
      // A ZIP archive whose first file is that of a workbook.
      return /^PK\x03\x04[^]{26}\[Content_Types\]\.xml/;
    case RUN_FILES.restricted:
      return /^\xef\xbb\xbfseq([,;\t])path\1row\1line\1id\1part\1turn\1decision\1category\1file_sha256\r\n/;
    case RUN_FILES.batchOutput:
    case RUN_FILES.batchErrors:
      return literally(`{"id":"batch_req_${run}_`);
    case RUN_FILES.summary:
      return new RegExp(`^\\{\\n {2}"schema": 1,\\n {2}"run": ${named},`);
    case RUN_FILES.manifest:
      return manifest;
    case RUN_FILES.report:
      return literally(reportStart(run));
    case RUN_FILES.manifestSignature:
      return literally('{"schema":1,"algorithm":"ed25519",');
    case RUN_FILES.manifestHash:
      return /^[0-9a-f]{64} {2}manifest\.json\n$/;
    default:
      return null;
  }
}

function literally(text: string): RegExp {
  return new RegExp(`^${escaped(text)}`);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
