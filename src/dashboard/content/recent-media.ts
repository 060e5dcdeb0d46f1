import { type EmbeddedMediaRequest, isEmbedded, type MediaRequest } from '../../domain/request.ts';
import type { DecodedMedia } from './decoded-media.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Memory of an entry besides its bytes: there may be many thumbnails. */
const ITEM_BYTES = 4096;

/** An item with media, decoded. */
export interface MediaItem {
  readonly request: MediaRequest | EmbeddedMediaRequest;
  readonly media: DecodedMedia;
}

/**
 * Media that were decoded recently, in memory only: a page asks for what an item is and then for its bytes. At most 64 MB,
 * or one larger one.
 */
export class RecentMedia {
  /** The least recently used first. */
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
