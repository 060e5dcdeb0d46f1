import { isUtf8 } from 'node:buffer';
import type { SourceConfig } from '../../config/run-config.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { MediaRequest, ReadMedia } from '../../domain/request.ts';
import { fileState, type FileState, isSameState } from '../../files/file-state.ts';
import { type Draft, createPromptDraft, createFailedDraft } from '../../formats/transcripts/draft.ts';
import type { SidecarSnapshot, SourceSnapshot } from '../sources/sources-file.ts';
import type { ManifestTable } from '../recognise/manifest-table.ts';
import { placeInCorpus, locateSidecar } from '../sources/file-place.ts';
import { configuredEncoding } from '../recognise/source-options.ts';
import { OpenSource, type SourceHead } from '../sources/open-source.ts';
import type { WholeFile } from './item-maker.ts';

interface MediaTarget {
  readonly source: SourceSnapshot;
  readonly config: SourceConfig;
  readonly modality: MediaRequest['modality'];
  /** The manifest of the corpus; undefined if there is none. */
  readonly manifest: ManifestTable | undefined;
  /** Max file size in bytes. */
  readonly mediaBytes: number;
  /** State of the file before anything was read; null if it need not be remembered. */
  readonly state: FileState | null;
  /** Media files that were read before; undefined to read every file. */
  readonly readBefore: ReadBefore | undefined;
  readonly signal: AbortSignal;
}

/** Looks up media files that have not changed since they were read. */
export interface ReadBefore {
  find(state: FileState): ReadMedia | null;
  add(state: FileState, media: ReadMedia): Promise<void>;
}

/**
 * An image or audio file as an item: by reference, with its hash and its caption or transcript. `unchanged`: recorded
 * facts about a file that need not be read.
 */
export async function readMediaItem(
  file: OpenSource,
  target: MediaTarget,
  unchanged: ReadMedia | null,
): Promise<WholeFile> {
  const { source, manifest, modality, mediaBytes } = target;
  const { bytes } = source;
  const id = manifest?.entry(source)?.id ?? null;
  const refuse = (error: ItemError, sha256: string | null): WholeFile => {
    const draft: Draft = { suffix: '', request: null, modality, requestType: 'prompt', error };
    return { sha256, bytes, draft, id };
  };
  if (unchanged === null && file.isCompressed) {
    return refuse(itemError('UNSUPPORTED_TYPE', 'the file is compressed media: unpack it'), null);
  }
  if (bytes > mediaBytes) {
    return refuse(itemError('ITEM_TOO_LARGE', `the file has ${bytes} bytes of at most ${mediaBytes}`), null);
  }
  const sha256 = unchanged?.sha256 ?? (await hashOf(file, target));
  const caption = await captionOf(target);
  if (caption !== null && typeof caption !== 'string') return refuse(caption, sha256);
  const place = { ...placeInCorpus(source), sha256, bytes };
  const request: MediaRequest = { requestType: 'prompt', modality, file: place, caption };
  return { sha256, bytes, draft: { suffix: '', request, error: null }, id };
}

/** The caller checks afterwards that the file has not changed. */
async function hashOf(file: OpenSource, target: MediaTarget): Promise<string> {
  const { modality, state, readBefore } = target;
  const sha256 = await file.hashRest(null);
  if (state !== null && isSameState(state, fileState(file.handle.local!)))
    await readBefore?.add(state, { sha256, modality });
  return sha256;
}

/** The caption of a file: from the manifest, its sidecar, or both. Neither is judged separately. */
async function captionOf({
  source,
  config,
  manifest,
  signal,
}: MediaTarget): Promise<string | null | ItemError> {
  const listed = manifest?.entry(source)?.caption ?? null;
  const beside = source.sidecar === null ? null : await readSidecar(source.sidecar, config, signal);
  if (listed === null || (beside !== null && typeof beside !== 'string')) return beside ?? null;
  const isSame = beside === null || beside.trim() === listed.trim();
  return validateCaption(isSame ? listed : `${listed}\n\n${beside}`);
}

/** Reads a plain text file as one item. If it is too large, it is only hashed. */
export async function readTextItem(
  file: OpenSource,
  head: SourceHead,
  target: {
    readonly source: SourceSnapshot;
    /** The manifest of the corpus; undefined if there is none. */
    readonly manifest: ManifestTable | undefined;
    /** Max size of the text in UTF-8 bytes. */
    readonly itemBytes: number;
  },
): Promise<WholeFile> {
  let pieces = [head.text];
  let bytes = head.text.length;
  const sha256 = await file.hashRest((piece) => {
    bytes += piece.length;
    if (bytes > target.itemBytes) pieces = [];
    else pieces.push(piece);
  });
  const draft =
    bytes > target.itemBytes
      ? createFailedDraft(
          '',
          'prompt',
          itemError('ITEM_TOO_LARGE', `the text has ${bytes} bytes of at most ${target.itemBytes}`),
        )
      : textDraft(Buffer.concat(pieces));
  const { source, manifest } = target;
  return { sha256, bytes: source.bytes, draft, id: manifest?.entry(source)?.id ?? null };
}

/** Makes the item of a UTF-8 text. */
export function textDraft(bytes: Buffer): Draft {
  if (isUtf8(bytes)) return createPromptDraft('', bytes.toString());
  return createFailedDraft(
    '',
    'prompt',
    itemError('INVALID_ENCODING', 'the file holds bytes that are not text'),
  );
}

/** Max size of a caption or transcript in UTF-8 bytes: it travels with the item and is sent to the guard unsplit. */
const MAX_CAPTION_BYTES = 64 * 1024;

/** The caption; null if it is blank; an error if it is too long. */
export function validateCaption(text: string): string | null | ItemError {
  if (!/\S/.test(text)) return null;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_CAPTION_BYTES) return text;
  return itemError(
    'ITEM_TOO_LARGE',
    `the caption or transcript has ${bytes} bytes of at most ${MAX_CAPTION_BYTES}`,
  );
}

/** Reads the caption from the text file next to a media file. File system errors are thrown. */
export async function readSidecar(
  sidecar: SidecarSnapshot,
  config: SourceConfig,
  signal: AbortSignal,
): Promise<string | null | ItemError> {
  const file = await OpenSource.open(locateSidecar(sidecar), signal);
  try {
    if (!file.matchesSnapshot(sidecar)) {
      return itemError(
        'SOURCE_CHANGED',
        'the text file with the caption or transcript changed after the run was created',
      );
    }
    const { text, isComplete } = await file.head(configuredEncoding(config, false));
    if (!isComplete) {
      return itemError(
        'ITEM_TOO_LARGE',
        `the caption or transcript has more than ${MAX_CAPTION_BYTES} bytes`,
      );
    }
    if (!isUtf8(text)) {
      return itemError('INVALID_ENCODING', 'the caption or transcript holds bytes that are not text');
    }
    return validateCaption(text.toString());
  } finally {
    await file.close();
  }
}
