import { hash } from 'node:crypto';
import { partsSha256 } from '../../domain/restriction/content-parts.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { ItemRequest } from '../../domain/request.ts';
import type { SourceSnapshot } from '../../ingest/sources/sources-file.ts';
import { hashNumber } from '../../record/restricted/restricted-list.ts';

type Place = Pick<OutcomeLine['source'], 'path' | 'row'>;

/**
 * Content that must not be shown anywhere because of the restricted items of a run: their records as a whole, their
 * files with the accompanying texts, and their content, also as part of something else. Holds only hashes, 40 bytes
 * each.
 */
export class RestrictedContents {
  readonly #places = new Set<number>();
  readonly #contents = new Set<number>();
  readonly #files = new Set<number>();
  /** Sources that list a restricted file with its caption. */
  readonly #manifests = new Set<number>();

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** Adds a restricted item. `source` is that of its file. */
  add({ source: place, content_sha256, modality }: OutcomeLine, source: SourceSnapshot | null): void {
    this.#places.add(placeNumber(place));
    if (content_sha256 !== null) this.#contents.add(hashNumber(content_sha256));
    if (place.sha256 !== null) this.#files.add(hashNumber(place.sha256));
    if (place.row !== null || modality === 'text' || source === null) return;
    if (source.sidecar !== null) this.#places.add(placeNumber({ path: source.sidecar.path, row: null }));
    if (typeof source.manifest === 'number') this.#manifests.add(source.manifest);
  }

  /** Whether nothing of an item may be read because its record, its file or its content is restricted. */
  holds({ source: place, content_sha256 }: OutcomeLine, source: SourceSnapshot | null): boolean {
    return (
      this.#places.has(placeNumber(place)) ||
      (content_sha256 !== null && this.#contents.has(hashNumber(content_sha256))) ||
      (place.sha256 !== null && this.#files.has(hashNumber(place.sha256))) ||
      (source !== null && source.manifest === source.source && this.#manifests.has(source.source))
    );
  }

  /** Whether any part of the content is restricted: a turn, a prompt, a caption, an image in a record. */
  holdsPartOf(request: ItemRequest): boolean {
    if (this.isEmpty) return false;
    return partsSha256(request)
      .map(hashNumber)
      .some((number) => this.#contents.has(number) || this.#files.has(number));
  }
}

function placeNumber({ path, row }: Place): number {
  return hashNumber(hash('sha256', `${row ?? ''}\n${path}`));
}
