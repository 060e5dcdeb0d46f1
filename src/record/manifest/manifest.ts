import { createHash, hash } from 'node:crypto';
import { z } from 'zod';
import type { RunRecord } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { readRunFile } from '../read-run-file.ts';
import { RUN_FILES, passOfManifest, commitsName } from '../../files/run-files.ts';
import { CANARY_CHECK } from '../log/canary-schema.ts';
import type { Chain } from '../log/chain.ts';
import { JUDGED_COLUMNS } from '../summary/summary-schema.ts';
import { TRIAL, trialCounts } from '../summary/trial.ts';
import type { PlanOutline } from '../outcomes/plan-outline.ts';
import type { RunTotals } from '../outcomes/run-totals.ts';

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** manifest.json. Published as a JSON Schema. */
export const MANIFEST = z
  .strictObject({
    schema: z.literal(1).describe('Version of the format.'),
    run: z.string().describe('Name of the run.'),
    tool: z
      .strictObject({
        name: z.literal('guardsweep').describe('Name of the program.'),
        version: z.string().describe('Version of the program.'),
      })
      .describe('What created the run.'),
    created_at: z.string().describe('When the run was created: ISO 8601, UTC.'),
    finished_at: z.string().describe('When the pass was finished: ISO 8601, UTC.'),
    pass: z.int().min(1).describe('Passes over the corpus; each retry adds one.'),
    epoch: z.int().min(1).describe('The epoch of the verdict log that finished the pass.'),
    chain_head: sha256.describe('Hash of the last line of the log, which is the closing line of the pass.'),
    trial: TRIAL.nullable().describe('In a trial: which part of the sources was judged; else null.'),
    counts: z
      .strictObject({
        items: count.describe('Items of the run.'),
        verdicts: count.describe('Items with a verdict.'),
        errors: count.describe('Items with an error.'),
        corpora: z
          .array(
            z.strictObject({
              corpus: count.describe('0-based index into the sources of run.json.'),
              items: count.describe('Items of the corpus.'),
              verdicts: count.describe('Items with a verdict.'),
              errors: count.describe('Items with an error.'),
            }),
          )
          .describe('The same per corpus.'),
      })
      .describe('What the outcomes add up to.'),
    fingerprints: z
      .array(
        z.strictObject({
          id: z.string().describe('As in outcome lines.'),
          artifacts: z
            .record(z.string(), z.string())
            .describe('SHA-256 of each artifact of the model, or what the guard declares.'),
        }),
      )
      .describe('Every fingerprint or declaration that a verdict names, in full.'),
    canaries: z
      .strictObject({
        from: z
          .enum(['built-in', 'file', 'off', 'workers'])
          .describe('Where the canaries are from; `workers`: each worker of the fleet chose.'),
        checks: z.array(CANARY_CHECK).describe('Checks that models passed, oldest first.'),
      })
      .describe('What the models were checked with before they judged.'),
    tables: z
      .array(JUDGED_COLUMNS)
      .exactOptional()
      .describe('Which columns of the tables were judged, and which were not; absent without tables.'),
    previous: z
      .strictObject({
        path: z.string().describe('Name of its file.'),
        sha256: sha256.describe('SHA-256 of its file.'),
      })
      .nullable()
      .describe('The manifest of the previous pass, which is kept and listed in `files`.'),
    sources: count.describe('Files of the corpora; source-hashes.jsonl has a line for each.'),
    files: z
      .array(
        z.strictObject({
          path: z
            .string()
            .regex(/^(log\/)?[a-zA-Z0-9][\w.-]*$/)
            .describe('Path below the run directory.'),
          bytes: count.describe('Bytes that count: an overtaken writer may have appended more.'),
          sha256: sha256.describe('SHA-256 of these bytes.'),
        }),
      )
      .describe('Every file of the run.'),
  })
  .meta({
    title: 'guardsweep manifest',
    description: 'manifest.json: what the record of a run consists of.',
  });

/** manifest.json: the files and figures that make up the record of a run. */
export type Manifest = z.infer<typeof MANIFEST>;

/** A file in the manifest. `path` is relative to the run directory, with `/`. */
export type FileEntry = Readonly<Manifest['files'][number]>;

/** Content of manifest.sha256: a line in the format of sha256sum. */
export function manifestHashLine(sha256: string): string {
  return `${sha256}  ${RUN_FILES.manifest}\n`;
}

/**
 * Reads the manifest of a finished run and checks it against manifest.sha256. Failure('internal') when it is missing
 * (the run was never finished), does not match, or is not a valid manifest.
 */
export async function readManifest(runDir: string): Promise<Manifest> {
  const bytes = await readPart(runDir, RUN_FILES.manifest);
  const hash = await readPart(runDir, RUN_FILES.manifestHash);
  if (hash.toString('latin1') !== manifestHashLine(createHash('sha256').update(bytes).digest('hex'))) {
    throw new Failure(
      'internal',
      `${RUN_FILES.manifest} is not the file whose hash ${RUN_FILES.manifestHash} names`,
    );
  }
  try {
    return MANIFEST.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new Failure('internal', `${RUN_FILES.manifest} is not a valid manifest`, { cause });
  }
}

async function readPart(runDir: string, name: string): Promise<Buffer> {
  try {
    return await readRunFile(runDir, name);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new Failure(
      'internal',
      missing ? `${name} is missing: the run was not finished` : `${name} cannot be read`,
      {
        cause,
      },
    );
  }
}

/** Content of a manifest, with the tables as in run.json. */
type ManifestContent = Omit<Manifest, 'tables'> & Pick<RunRecord, 'tables'>;

/** The inputs that determine a manifest, apart from its list of files. */
export interface ManifestOrigin {
  readonly record: RunRecord;
  readonly chain: Chain;
  readonly plan: PlanOutline;
  readonly totals: Pick<RunTotals, 'counts' | 'corpora'>;
  /** Number of sources. */
  readonly sources: number;
  /** Time, epoch and hash of the closing line. */
  readonly closing: { readonly at: string; readonly epoch: number; readonly head: string };
}

/** Renders the manifest that finishes the pass of a plan; `verify` renders it again. */
export function renderManifest(
  { record, chain, plan, totals, sources, closing }: ManifestOrigin,
  files: readonly FileEntry[],
): string {
  const { items, verdicts, errors } = totals.counts;
  return manifestText({
    schema: 1,
    run: record.run,
    tool: record.tool,
    created_at: record.created_at,
    finished_at: closing.at,
    pass: plan.pass,
    epoch: closing.epoch,
    trial: trialCounts(record.config.trial, plan),
    counts: { items, verdicts, errors, corpora: [...totals.corpora] },
    fingerprints: [...chain.fingerprints.values()],
    canaries: { from: record.config.canaries.from, checks: [...chain.canaries] },
    ...(record.tables && { tables: record.tables }),
    previous: previousManifest(files),
    sources,
    files: [...files],
    chain_head: closing.head,
  });
}

/** Renders a manifest, with its `files` one per line. */
export function manifestText({ files, chain_head, ...head }: ManifestContent): string {
  const begin = JSON.stringify(head, null, 2).slice(0, -2);
  const lines = files.map((file) => `    ${JSON.stringify(file)}`).join(',\n');
  return `${begin},\n  "files": [\n${lines}\n  ],\n  "chain_head": ${JSON.stringify(chain_head)}\n}\n`;
}

/** The newest manifest of an earlier pass among the listed files; null when there is none. */
function previousManifest(files: readonly FileEntry[]): Manifest['previous'] {
  const latest = files
    .filter(({ path }) => passOfManifest(path) !== null)
    .reduce<FileEntry | null>(
      (a, b) => (a === null || passOfManifest(a.path)! < passOfManifest(b.path)! ? b : a),
      null,
    );
  return latest === null ? null : { path: latest.path, sha256: latest.sha256 };
}

/**
 * Hash of the manifest's `files` for the closing line of an epoch: SHA-256 of the entries as JSON, one per line. It
 * excludes the commits file that holds this line, and the summary, which names the hash of this line: the chain
 * determines both.
 */
export function filesHash(files: readonly FileEntry[], epoch: number): string {
  const own = `${RUN_FILES.log}/${commitsName(epoch)}`;
  const listed = files.filter(({ path }) => path !== own && path !== RUN_FILES.summary);
  return hash('sha256', listed.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}
