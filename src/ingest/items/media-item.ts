import type { SourceConfig } from '../../config/run-config.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { MediaRequest } from '../../domain/request.ts';
import type { Draft } from '../../formats/transcripts/draft.ts';
import { checkedCaption, readSidecar } from './caption.ts';
import { placeInCorpus } from '../sources/corpus-roots.ts';
import { fileState, isSameState, type FileState } from '../../files/file-state.ts';
import type { WholeFile } from './item-maker.ts';
import type { ManifestTable } from '../recognise/manifest-table.ts';
import type { OpenSource } from '../sources/open-source.ts';
import type { FrozenSource } from '../plan/plan-line.ts';

interface MediaTarget {
  readonly source: FrozenSource;
  readonly config: SourceConfig;
  readonly modality: MediaRequest['modality'];
  /** The manifest of the corpus; undefined if there is none. */
  readonly manifest: ManifestTable | undefined;
  /** Max file size in bytes. */
  readonly mediaBytes: number;
  /** The state of the file before anything of it was read; null: it need not be remembered. */
  readonly state: FileState | null;
  /** Media files that were read before; undefined: every file is read. */
  readonly readBefore: ReadBefore | undefined;
  readonly signal: AbortSignal;
}

/** Knows the media files that are as they were when they were read. */
export interface ReadBefore {
  find(state: FileState): ReadMedia | null;
  add(state: FileState, media: ReadMedia): Promise<void>;
}

/** What an item needs of a media file but its caption. */
export interface ReadMedia {
  /** SHA-256 of the bytes, 64 hex digits. */
  readonly sha256: string;
  readonly modality: MediaRequest['modality'];
}

/**
 * An image or audio file as an item: by reference, with its hash and its caption or transcript. `unchanged`: what is
 * known of a file that need not be read.
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
  if (state !== null && isSameState(state, fileState(file.handle)))
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
  return checkedCaption(isSame ? listed : `${listed}\n\n${beside}`);
}
