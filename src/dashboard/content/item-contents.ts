import type { ItemError } from '../../domain/item-error.ts';
import {
  type EmbeddedMediaRequest,
  submittedTurns,
  isEmbedded,
  isMedia,
  type ItemRequest,
  type MediaRequest,
} from '../../domain/request.ts';
import { ByteBudget } from '../../flow/byte-budget.ts';
import { type RereadItem, ItemReader } from '../../ingest/reread/item-reader.ts';
import { configOf } from '../../ingest/sources/sources-file.ts';
import { changedSince, checkPlanned, readPlanned } from '../../moderate/media/hashed-bytes.ts';
import { LocalFile } from '../../ingest/sources/source-file.ts';
import { toReadProblem } from '../../ingest/objects/object-error.ts';
import { Normalizer } from '../../normalize/normalizer.ts';
import { type ContentProblem, type ItemContent, MAX_HITS, type TextHits } from '../api/items.ts';
import type { Run } from '../../runs/create-run.ts';
import { type Admitted, ContentGate } from './content-gate.ts';
import {
  decodedAudio,
  decodedEmbedded,
  decodedImage,
  type DecodedMedia,
  type Look,
} from './decoded-media.ts';
import type { RunIndexes } from '../index/run-indexes.ts';
import type { ContentAccess } from '../runs/content-access.ts';
import { OpenedRuns } from './opened-runs.ts';
import { type MediaItem, RecentMedia } from './recent-media.ts';
import { Reveals } from './reveals.ts';
import { shownRequest } from './shown-request.ts';

/** Maximum items that are read and decoded at a time. */
const MAX_READINGS = 3;

/** Maximum thumbnails that are read and decoded at a time, in addition to the items. */
const MAX_THUMBNAILS = 2;

/** Maximum time to read and decode an item, including the wait. */
const READING_TIME_MS = 120_000;

/** Maximum time of a search, after which it returns what it has found. */
const SEARCH_TIME_MS = 20_000;

export type Unavailable = Extract<ItemContent, { kind: 'unavailable' }>;

const MESSAGES: Readonly<Record<ContentProblem, string>> = {
  restricted:
    'This item, or one with the same content, may show children in sexual contexts. It is not shown.',
  not_your_run: 'You did not create this run on this machine, so its sources are not read.',
  outside_root: 'Its file is outside the folders that the dashboard may read (--root).',
  source_missing: 'Its file no longer exists.',
  source_changed: 'The source has changed since it was judged.',
  not_readable: 'Its file cannot be read.',
  decoding_failed: 'It cannot be decoded.',
};

/** Reason why there is nothing to show. `message` replaces the default one; it contains only our own words. */
function unavailable(reason: ContentProblem, message = MESSAGES[reason]): Unavailable {
  return { kind: 'unavailable', reason, message };
}

const NO_MEDIA = unavailable('not_readable', 'It is neither an image nor a clip.');

export interface ItemContentsOptions {
  readonly access: ContentAccess;
  readonly indexes: RunIndexes;
}

/** A person who requests content. */
export interface Viewer {
  /** Aborts when the client disconnects. */
  readonly client: AbortSignal;
  /** Name that the person gave; null if none. */
  readonly reviewer: string | null;
}

/**
 * Content of items, read from their sources on request and never stored. Never reads items that are restricted or that
 * share content with a restricted one. Every answer with content is logged before it is returned.
 */
export class ItemContents {
  readonly #gate: ContentGate;
  readonly #reader = new ItemReader();
  readonly #recent = new RecentMedia();
  readonly #reveals = new Reveals();
  readonly #readings = new ByteBudget(MAX_READINGS);
  readonly #thumbnails = new ByteBudget(MAX_THUMBNAILS);
  readonly #searches = new ByteBudget(1);
  readonly #normalizer = Normalizer.open({
    image: { processes: MAX_READINGS },
    audio: { decoders: MAX_READINGS },
  });
  readonly #closing = new AbortController();

  constructor({ access, indexes }: ItemContentsOptions) {
    const closing = this.#closing.signal;
    this.#gate = new ContentGate({ runs: new OpenedRuns(access), indexes, access, closing });
  }

  /**
   * Returns the item's content; null for one without an outcome. Rejects when the client disconnects or the dashboard
   * shuts down, and with Failure('service') if the reveal cannot be logged.
   */
  content(runDir: string, seq: number, { client, reviewer }: Viewer): Promise<ItemContent | null> {
    return this.#inTurn(this.#readings, client, async (signal) => {
      const admitted = await this.#gate.admit(runDir, seq, signal);
      if (admitted === null) return null;
      if ('problem' in admitted) return unavailable(admitted.problem, admitted.message);
      const shown = await this.#shown(admitted, signal);
      if (shown.kind !== 'unavailable')
        await this.#reveals.add(admitted.opened.run, seq, 'content', reviewer);
      return shown;
    });
  }

  /**
   * Returns the image or audio of an item. Only images have looks other than `whole`; a blurred one does not count as
   * content, so it is not logged. Null and rejections as for `content`.
   */
  media(
    runDir: string,
    seq: number,
    { client, reviewer }: Viewer,
    look: Look = 'whole',
  ): Promise<DecodedMedia | Unavailable | null> {
    const turns = look === 'whole' ? this.#readings : this.#thumbnails;
    return this.#inTurn(turns, client, async (signal) => {
      const admitted = await this.#gate.admit(runDir, seq, signal);
      if (admitted === null) return null;
      if ('problem' in admitted) return unavailable(admitted.problem, admitted.message);
      const { modality } = admitted.line;
      if (modality === 'text' || (look !== 'whole' && modality !== 'image')) return NO_MEDIA;
      const found = await this.#media(admitted, look, signal);
      if ('kind' in found) return found;
      if (look !== 'blurred') await this.#reveals.add(admitted.opened.run, seq, 'media', reviewer);
      return found.media;
    });
  }

  /**
   * Searches the texts of the items in `seqs`, ignoring case, and skips restricted items. Ends after SEARCH_TIME_MS or
   * MAX_HITS. Runs one search at a time; rejections as for `content`.
   */
  search(
    runDir: string,
    { text, seqs }: { readonly text: string; readonly seqs: readonly number[] },
    { client, reviewer }: Viewer,
  ): Promise<TextHits | Unavailable> {
    return this.#inTurn(this.#searches, client, async (signal) => {
      const endsAt = performance.now() + SEARCH_TIME_MS;
      const wanted = text.toLowerCase();
      const found: number[] = [];
      let searched = 0;
      let run: Run | null = null;
      let next: number | null = null;
      try {
        for (const seq of seqs) {
          if (performance.now() > endsAt || found.length === MAX_HITS) {
            next = seq;
            break;
          }
          const admitted = await this.#gate.admit(runDir, seq, signal);
          if (admitted === null || 'problem' in admitted) continue;
          run = admitted.opened.run;
          const again = await this.#again(admitted, signal);
          if ('kind' in again) continue;
          searched++;
          if (textsOf(again.item.request).some((each) => each.toLowerCase().includes(wanted)))
            found.push(seq);
        }
      } finally {
        // An abandoned search has read texts too.
        if (run !== null) await this.#reveals.addSearch(run, searched, found, reviewer);
      }
      return { searched, seqs: found, next };
    });
  }

  /** Aborts all reading and decoding. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the dashboard ends'));
    await this.#normalizer.close();
  }

  async #inTurn<T>(
    turns: ByteBudget,
    client: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | Unavailable> {
    const late = AbortSignal.timeout(READING_TIME_MS);
    const signal = AbortSignal.any([client, this.#closing.signal, late]);
    let hasTurn = false;
    try {
      await turns.enter(1, signal);
      hasTurn = true;
      return await work(signal);
    } catch (error) {
      if (!late.aborted || error !== late.reason) throw error;
      return unavailable('not_readable', `It was not read within ${READING_TIME_MS / 1000} s.`);
    } finally {
      if (hasTurn) turns.leave(1);
    }
  }

  async #shown(admitted: Admitted, signal: AbortSignal): Promise<ItemContent> {
    const { line, tippedBy } = admitted;
    if (line.modality !== 'text') {
      const found = await this.#media(admitted, 'whole', signal);
      return 'kind' in found ? found : describedMedia(found, admitted);
    }
    const again = await this.#again(admitted, signal);
    if ('kind' in again) return again;
    const { item, record } = again;
    const { request } = item;
    if (isMedia(request) || isEmbedded(request)) return unavailable('source_changed');
    return shownRequest(request, { line, record, tippedBy });
  }

  async #media(admitted: Admitted, look: Look, signal: AbortSignal): Promise<MediaItem | Unavailable> {
    const { opened, line, isRestricted } = admitted;
    const key = JSON.stringify([opened.run.dir, line.seq, line.content_sha256, line.coverage, look]);
    const recent = this.#recent.get(key);
    if (recent !== null) return isRestricted(recent.request) ? unavailable('restricted') : recent;
    const again = await this.#again(admitted, signal);
    if ('kind' in again) return again;
    const { request } = again.item;
    if (!isMedia(request) && !isEmbedded(request)) return unavailable('source_changed');
    const media = await this.#decoded(request, admitted, look, signal);
    if ('code' in media) return notDecoded(media);
    const found = { request, media };
    this.#recent.add(key, found);
    return found;
  }

  /** Rereads the item; returns nothing of it if any part of it is restricted. */
  async #again(
    { opened, line, source, isRestricted }: Admitted,
    signal: AbortSignal,
  ): Promise<RereadItem | Unavailable> {
    const { snapshots, run } = opened;
    const { sources, limits } = run.record.config;
    const { itemBytes, mediaBytes, unpack } = limits;
    const from = { source, config: configOf(source, sources), snapshots, itemBytes, mediaBytes, unpack };
    const again = await this.#reader.read(from, line, signal);
    if (again === 'changed') return unavailable('source_changed');
    if (again === 'unreadable') return unavailable('not_readable');
    return isRestricted(again.item.request) ? unavailable('restricted') : again;
  }

  async #decoded(
    request: MediaRequest | EmbeddedMediaRequest,
    { opened, line }: Admitted,
    look: Look,
    signal: AbortSignal,
  ): Promise<DecodedMedia | ItemError> {
    const decoding = { normalizer: this.#normalizer, signal };
    if (isEmbedded(request)) return decodedEmbedded(request, line, look, decoding);
    const { file, modality } = request;
    const opening = await opened.folders.open(file, signal);
    if ('code' in opening) return opening;
    try {
      if (modality === 'image') {
        const bytes = await readPlanned(opening, file, signal).catch(toReadProblem);
        return 'code' in bytes ? bytes : await decodedImage(bytes, line, look, decoding);
      }
      const handle = await opening.descriptor().catch(toReadProblem);
      if ('code' in handle) return handle;
      const clip = new LocalFile(handle);
      const before = clip.state();
      const changed = await checkPlanned(clip, file, signal);
      const decoded = changed ?? (await decodedAudio(handle, line, decoding));
      // The decoder reopened the file after it was hashed.
      return changedSince(before, clip) ?? decoded;
    } finally {
      await opening.close();
    }
  }
}

/** All texts in a request that were written by a person or a model. */
function textsOf(request: ItemRequest): readonly string[] {
  if (isMedia(request) || isEmbedded(request)) return [];
  switch (request.requestType) {
    case 'prompt':
      return [request.text];
    case 'response':
      return [request.prompt ?? '', request.response];
    case 'generation':
      return [request.prompt, request.chunks.join('')];
    case 'multiturn':
      return submittedTurns(request).map(([, content]) => content);
  }
}

function describedMedia({ request, media }: MediaItem, { line }: Admitted): ItemContent {
  const { caption } = request;
  if (media.type === 'image/png') {
    const { width, height } = media;
    return { kind: 'image', width, height, caption };
  }
  const { seconds, peaks, clipSeconds } = media;
  const worst_at = line.coverage?.worst_at ?? null;
  return { kind: 'audio', seconds, peaks, transcript: caption, worst_at, clip_seconds: clipSeconds };
}

function notDecoded({ code, message }: ItemError): Unavailable {
  if (code === 'SOURCE_CHANGED') return unavailable('source_changed');
  if (code === 'UNREADABLE_SOURCE') return unavailable('not_readable');
  return unavailable('decoding_failed', `It cannot be decoded: ${message}.`);
}
