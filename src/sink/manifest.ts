import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../domain/failure.ts';
import { RUN_FILES } from './run-files.ts';

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const MANIFEST = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  tool: z.strictObject({ name: z.literal('guardsweep'), version: z.string() }),
  created_at: z.string(),
  finished_at: z.string(),
  pass: z.int().min(1),
  /** Of the verdict log: the one that finished the run. */
  epoch: z.int().min(1),
  /** Hash of the log's last line. */
  chain_head: sha256,
  counts: z.strictObject({
    items: count,
    verdicts: count,
    errors: count,
    corpora: z.array(z.strictObject({ corpus: count, items: count, verdicts: count, errors: count })),
  }),
  /** What had been committed and was found damaged, by the epoch that found it; it was judged again. */
  damage: z.array(z.strictObject({ epoch: z.int().min(1), at: z.string(), outcomes: count })),
  /** Every fingerprint that was in force for a verdict, in full. */
  fingerprints: z.array(z.strictObject({ id: z.string(), artifacts: z.record(z.string(), sha256) })),
  /** The manifest of the pass before; it is kept, and listed in `files`. */
  previous: z.strictObject({ path: z.string(), sha256 }).nullable(),
  /** Hashes of the sources as they were judged; null when a source is gone, unreadable or changed since. */
  sources: z.array(z.strictObject({ path: z.string(), bytes: count, sha256: sha256.nullable() })),
  /** Every file of the run; of files that an older epoch may still append to, the bytes that count. */
  files: z.array(
    z.strictObject({ path: z.string().regex(/^(log\/)?[a-zA-Z0-9][\w.-]*$/), bytes: count, sha256 }),
  ),
});

/** manifest.json: what a run's record consists of. */
export type Manifest = z.infer<typeof MANIFEST>;

/** The text of manifest.sha256 for a manifest's hash: a line as sha256sum writes and checks it. */
export function manifestHashLine(sha256: string): string {
  return `${sha256}  ${RUN_FILES.manifest}\n`;
}

/**
 * Reads and checks the manifest of a finished run. Failure('internal') when it is missing (the run was never
 * finished), or is not the one that manifest.sha256 names.
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
    return await readFile(join(runDir, name));
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

/** The text of a manifest in pieces, one source and one file a line, so that a million sources need no room. */
export async function* manifestText(
  manifest: Omit<Manifest, 'sources'>,
  sources: AsyncIterable<Manifest['sources']>,
): AsyncGenerator<string, void> {
  const { files, ...head } = manifest;
  yield `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "sources": [`;
  let separator = '\n';
  for await (const batch of sources) {
    let text = '';
    for (const source of batch) {
      text += `${separator}    ${JSON.stringify(source)}`;
      separator = ',\n';
    }
    yield text;
  }
  yield `\n  ],\n  "files": [\n${files.map((file) => `    ${JSON.stringify(file)}`).join(',\n')}\n  ]\n}\n`;
}
