import { dirname, resolve } from 'node:path';
import { readCanaryFile, type CanaryEntry } from '../../config/job-file/canary-file.ts';
import type { CanaryChoice } from '../../config/run-config.ts';
import { BUILT_IN_CANARIES, CANARY_PICTURE } from '../../domain/canary/built-in.ts';
import type { Expected } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import type { AudioRequest, ImageRequest, PromptRequest } from '../../domain/request.ts';
import type { CategoryKey } from '../../domain/taxonomy.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { openFile, readWholeFile } from '../../files/open-file.ts';
import { silentClip } from '../../guard/protocol/canary.ts';
import { Normalizer } from '../../normalize/normalizer.ts';

/** A content whose verdict is known. */
export interface Canary {
  readonly name: string;
  /** In normal form. */
  readonly request: PromptRequest | ImageRequest | AudioRequest;
  readonly expected: Expected;
  /** A category that must be flagged; null: any. */
  readonly category: CategoryKey | null;
  readonly minScore: number;
  readonly maxScore: number;
  /** SHA-256 of the file that it is from, 64 hex digits; null: it is built in. All of a modality are from one place. */
  readonly file: string | null;
}

/** In bytes. */
const MAX_MEDIA_BYTES = 32 * 1024 * 1024;

/**
 * Reads the canaries that a run or a worker chose, and brings its media into normal form; null: none. A modality of which a
 * file has none keeps those that are built in. Failure('usage') when the file is not the one that was chosen, or names media
 * that cannot be judged.
 */
export async function readCanaries(
  choice: CanaryChoice,
  signal: AbortSignal,
): Promise<readonly Canary[] | null> {
  if (choice.from === 'off') return null;
  if (choice.from !== 'file') return BUILT_IN_CANARIES.map(builtIn);
  const { path, sha256 } = choice;
  const read = await readCanaryFile(path, { value: path, place: 'canaries' });
  if (read.sha256 !== sha256) {
    throw new Failure(
      'usage',
      `${quoteName(path)} is not the file of canaries that the run was created with (SHA-256 ${sha256}): put that back`,
    );
  }
  const normalizer = Normalizer.open();
  try {
    const canaries: Canary[] = [];
    for (const entry of read.entries)
      canaries.push({ ...(await ownCanary(entry, dirname(path), normalizer, signal)), file: sha256 });
    const named = new Set(read.entries.map(({ modality }) => modality));
    return [...canaries, ...BUILT_IN_CANARIES.filter(({ modality }) => !named.has(modality)).map(builtIn)];
  } finally {
    await normalizer.close();
  }
}

function builtIn({ name, modality, expected, text }: (typeof BUILT_IN_CANARIES)[number]): Canary {
  return { name, request: requestOf(), expected, category: null, minScore: 0, maxScore: 1, file: null };

  function requestOf(): Canary['request'] {
    if (modality === 'text') return { requestType: 'prompt', modality, text: text! };
    if (modality === 'audio') return { ...silentClip(false), transcript: text };
    return { requestType: 'prompt', modality, image: CANARY_PICTURE, caption: text };
  }
}

async function ownCanary(
  entry: CanaryEntry,
  folder: string,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<Omit<Canary, 'file'>> {
  const { name, expect, category = null, min_score: minScore = 0, max_score: maxScore = 1 } = entry;
  return { name, request: await requestOf(), expected: expect, category, minScore, maxScore };

  async function requestOf(): Promise<Canary['request']> {
    if (entry.modality === 'text') return { requestType: 'prompt', modality: 'text', text: entry.text! };
    const path = resolve(folder, entry.file!);
    const caption = entry.caption ?? null;
    try {
      if (entry.modality === 'image') return await picture(path, caption, normalizer, signal);
      return await clip(path, caption, normalizer, signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof Failure) throw new Failure('usage', `canary ${name}: ${cause.message}`, { cause });
      const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new Failure('usage', `canary ${name}: ${quoteName(path)} cannot be read (${code})`, { cause });
    }
  }
}

/** The first frame of a picture. */
async function picture(
  path: string,
  caption: string | null,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<ImageRequest> {
  const bytes = await readWholeFile(path, { maxBytes: MAX_MEDIA_BYTES, links: 'follow' });
  const normal = await normalizer.image(bytes, { frames: 1, signal });
  if ('code' in normal) throw new Failure('usage', `${quoteName(path)}: ${normal.message}`);
  return { requestType: 'prompt', modality: 'image', image: normal.frames[0]!.bytes, caption };
}

/** The first 300 s of a clip. */
async function clip(
  path: string,
  transcript: string | null,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<AudioRequest> {
  const file = await openFile(path, 'follow');
  try {
    let audio: Buffer | null = null;
    const each = async ({ wav }: { readonly wav: Buffer }): Promise<void> => {
      audio ??= wav;
    };
    const normal = await normalizer.audio(file, { long: 'truncate', signal, each });
    if ('code' in normal) throw new Failure('usage', `${quoteName(path)}: ${normal.message}`);
    return { requestType: 'prompt', modality: 'audio', audio: audio!, transcript };
  } finally {
    await file.close();
  }
}
