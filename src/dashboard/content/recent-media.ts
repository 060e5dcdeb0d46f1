import { type EmbeddedMediaRequest, isEmbedded, type MediaRequest } from '../../domain/request.ts';
import type { DecodedMedia } from './decoded-media.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Memory of an entry in addition to its bytes, since there may be many thumbnails. */
const ITEM_BYTES = 4096;

/** Decoded media of an item. */
export interface MediaItem {
  readonly request: MediaRequest | EmbeddedMediaRequest;
  readonly media: DecodedMedia;
}

/**
 * Cache of recently decoded media, in memory only, since a page first asks for the type of an item and then for its
 * bytes. Holds at most 64 MB, or a single larger entry.
 */
export class RecentMedia {
  /** Entries by key, the least recently used first. */
  readonly #items = new Map<string, MediaItem>();

  get(key: string): MediaItem | null {
    const item = this.#items.get(key);
    if (item === undefined) return null;
    this.add(key, item);
    return item;
  }

  add(key: string, item: MediaItem): void {
    this.#items.delete(key);
    this.#items.set(key, item);
    let bytes = 0;
    for (const kept of this.#items.values()) bytes += bytesOf(kept);
    for (const [oldest, kept] of this.#items) {
      if (bytes <= MAX_BYTES || this.#items.size === 1) return;
      this.#items.delete(oldest);
      bytes -= bytesOf(kept);
    }
  }
}

function bytesOf({ request, media }: MediaItem): number {
  return ITEM_BYTES + media.bytes.length + (isEmbedded(request) ? request.embedded.length : 0);
}
