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

/** Content with a known verdict. */
export interface Canary {
  readonly name: string;
  /** In normalized format. */
  readonly request: PromptRequest | ImageRequest | AudioRequest;
  readonly expected: Expected;
  /** A category that must be flagged; null for any. */
  readonly category: CategoryKey | null;
  readonly minScore: number;
  readonly maxScore: number;
}

export interface CanarySet {
  readonly canaries: readonly Canary[];
  /** SHA-256 of the file that lists them, 64 hex digits; null for the built-in list. */
  readonly file: string | null;
}

/** In bytes. */
const MAX_MEDIA_BYTES = 32 * 1024 * 1024;

/**
 * Reads the canaries that a run or a worker selected, with their media in normalized format; null if canaries are off.
 * Failure('usage') when the file is not the selected one, or names media that cannot be judged.
 */
export async function readCanaries(choice: CanaryChoice, signal: AbortSignal): Promise<CanarySet | null> {
  if (choice.from === 'off') return null;
  if (choice.from !== 'file') return { canaries: BUILT_IN_CANARIES.map(builtIn), file: null };
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
    for (const entry of read.entries) {
      const {
        name,
        expect: expected,
        category = null,
        min_score: minScore = 0,
        max_score: maxScore = 1,
      } = entry;
      const request = await readRequest(entry, dirname(path), normalizer, signal);
      canaries.push({ name, request, expected, category, minScore, maxScore });
    }
    return { canaries, file: sha256 };
  } finally {
    await normalizer.close();
  }
}

function builtIn({ name, modality, expected, text }: (typeof BUILT_IN_CANARIES)[number]): Canary {
  const request: Canary['request'] =
    modality === 'text'
      ? { requestType: 'prompt', modality, text: text! }
      : modality === 'audio'
        ? { ...silentClip(false), transcript: text }
        : { requestType: 'prompt', modality, image: CANARY_PICTURE, caption: text };
  return { name, request, expected, category: null, minScore: 0, maxScore: 1 };
}

/** Reads a request with the first frame of an image, or the first 300 s of an audio clip. */
async function readRequest(
  { name, modality, text, file, ...entry }: CanaryEntry,
  folder: string,
  normalizer: Normalizer,
  signal: AbortSignal,
): Promise<Canary['request']> {
  if (modality === 'text') return { requestType: 'prompt', modality, text: text! };
  const path = resolve(folder, file!);
  const caption = entry.caption ?? null;
  try {
    if (modality === 'audio') {
      const audio = await readClip(path, normalizer, signal);
      return { requestType: 'prompt', modality, audio, transcript: caption };
    }
    const bytes = await readWholeFile(path, { maxBytes: MAX_MEDIA_BYTES, links: 'follow' });
    const image = await normalizer.image(bytes, { frames: 1, signal });
    if ('code' in image) throw new Failure('usage', `${quoteName(path)}: ${image.message}`);
    return { requestType: 'prompt', modality, image: image.frames[0]!.bytes, caption };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof Failure) throw new Failure('usage', `canary ${name}: ${cause.message}`, { cause });
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Failure('usage', `canary ${name}: ${quoteName(path)} cannot be read (${code})`, { cause });
  }
}

async function readClip(path: string, normalizer: Normalizer, signal: AbortSignal): Promise<Buffer> {
  const file = await openFile(path, 'follow');
  try {
    let first: Buffer | null = null;
    const each = async ({ wav }: { readonly wav: Buffer }): Promise<void> => {
      first ??= wav;
    };
    const normal = await normalizer.audio(file, { long: 'truncate', signal, each });
    if ('code' in normal) throw new Failure('usage', `${quoteName(path)}: ${normal.message}`);
    return first!;
  } finally {
    await file.close();
  }
}
