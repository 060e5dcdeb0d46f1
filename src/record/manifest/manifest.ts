import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CanaryChoice, RunRecord } from '../../config/run-config.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import { readRunFile } from '../read-run-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { CANARY_CHECK } from '../log/canary-schema.ts';
import type { Chain } from '../log/chain.ts';

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const MANIFEST = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  tool: z.strictObject({ name: z.literal('guardsweep'), version: z.string() }),
  created_at: z.string(),
  finished_at: z.string(),
  pass: z.int().min(1),
  /** The epoch of the verdict log that finished the pass. */
  epoch: z.int().min(1),
  /** Hash of the last line of the log, which is the closing line of the pass. */
  chain_head: sha256,
  /** In a trial: which part of the sources was judged. Manifests of earlier builds do not have it. */
  trial: z
    .strictObject({
      limit: count.nullable(),
      sample: z.number().nullable(),
      seed: count.nullable(),
      records_read: count.nullable(),
      records_not_selected: count.nullable(),
    })
    .nullable()
    .optional(),
  counts: z.strictObject({
    items: count,
    verdicts: count,
    errors: count,
    corpora: z.array(z.strictObject({ corpus: count, items: count, verdicts: count, errors: count })),
  }),
  /** Committed outcomes that were found damaged and judged again, by the epoch that found them. */
  damage: z.array(z.strictObject({ epoch: z.int().min(1), at: z.string(), outcomes: count })),
  /** Every fingerprint that a verdict names, in full. */
  fingerprints: z.array(z.strictObject({ id: z.string(), artifacts: z.record(z.string(), sha256) })),
  /** What the models were checked with before they judged, and their answers. Manifests of earlier builds do not have it. */
  canaries: z
    .strictObject({
      from: z.enum(['built-in', 'file', 'off', 'workers']),
      checks: z.array(CANARY_CHECK),
    })
    .optional(),
  /** The manifest of the previous pass, which is kept and listed in `files`. */
  previous: z.strictObject({ path: z.string(), sha256 }).nullable(),
  /**
   * Hashes of the sources as they were judged; null for a source that is gone, unreadable or changed, and in a trial of
   * the first records for a source with rows.
   */
  sources: z.array(z.strictObject({ path: z.string(), bytes: count, sha256: sha256.nullable() })),
  /** Every file of the run; of files that an overtaken writer may append to, only the bytes that count. */
  files: z.array(
    z.strictObject({ path: z.string().regex(/^(log\/)?[a-zA-Z0-9][\w.-]*$/), bytes: count, sha256 }),
  ),
});

/** manifest.json: what the record of a run consists of. */
export type Manifest = z.infer<typeof MANIFEST>;

/** A file in the manifest. `path` is relative to the run directory, with `/`. */
export type FileEntry = Readonly<Manifest['files'][number]>;

/** The text of manifest.sha256: a line as sha256sum writes and checks it. */
export function manifestHashLine(sha256: string): string {
  return `${sha256}  ${RUN_FILES.manifest}\n`;
}

/**
 * Reads the manifest of a finished run and checks it against manifest.sha256. Failure('internal') when it is missing
 * (the run was never finished), does not match, or does not have the form of a manifest.
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
    throw new Failure('internal', `${RUN_FILES.manifest} does not have the form of a manifest`, { cause });
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

/** The beginning of a manifest: what is known before the sources are hashed. */
type ManifestHead = Omit<Manifest, 'sources' | 'files' | 'chain_head'>;

/** The end of a manifest: what depends on the closing line of the log. */
type ManifestEnd = Pick<Manifest, 'files' | 'chain_head'>;

/** The `canaries` of a manifest; undefined for a run of an earlier build. */
export function manifestCanaries(
  { config }: RunRecord,
  { canaries }: Chain,
): { from: CanaryChoice['from']; checks: CanaryCheck[] } | undefined {
  return config.canaries && { from: config.canaries.from, checks: [...canaries] };
}

/** The text of a manifest up to its list of sources. */
export function manifestBegin(head: ManifestHead): string {
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "sources": [`;
}

/** The text of some of the sources, one per line; `first` is the index of the first. */
export function manifestSources(sources: Manifest['sources'], first: number): string {
  return sources
    .map((source, index) => `${first + index === 0 ? '\n' : ',\n'}    ${JSON.stringify(source)}`)
    .join('');
}

/** The text of a manifest after its list of sources. */
export function manifestEnd({ files, chain_head }: ManifestEnd): string {
  const lines = files.map((file) => `    ${JSON.stringify(file)}`).join(',\n');
  return `\n  ],\n  "files": [\n${lines}\n  ],\n  "chain_head": ${JSON.stringify(chain_head)}\n}\n`;
}
