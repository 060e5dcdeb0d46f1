import { hash } from 'node:crypto';
import { contentSha256, conversationSha256 } from '../../domain/content-hash.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { history, isEmbedded, isMedia, type ItemRequest } from '../../domain/request.ts';
import type { FrozenSource } from '../../ingest/plan/plan-line.ts';

/** Digits of a hash that fit a number exactly: 48 bits. Two contents that share them are both restricted. */
const HASH_DIGITS = 12;

type Place = Pick<OutcomeLine['source'], 'path' | 'row'>;

/**
 * What must not be shown because of the restricted items of a run, wherever else it is: their records as a whole, their
 * files with the texts beside them, and their contents, also as a part of something else. Holds hashes only, 40 bytes for
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
  add({ source: place, content_sha256, modality }: OutcomeLine, source: FrozenSource | null): void {
    this.#places.add(placeNumber(place));
    if (content_sha256 !== null) this.#contents.add(hashNumber(content_sha256));
    if (place.sha256 !== null) this.#files.add(hashNumber(place.sha256));
    if (place.row !== null || modality === 'text' || source === null) return;
    if (source.sidecar !== null) this.#places.add(placeNumber({ path: source.sidecar.path, row: null }));
    if (typeof source.manifest === 'number') this.#manifests.add(source.manifest);
  }

  /** Whether nothing at the place of an item may be read: neither the record, nor the file, nor this content. */
  holds({ source: place, content_sha256 }: OutcomeLine, source: FrozenSource | null): boolean {
    return (
      this.#places.has(placeNumber(place)) ||
      (content_sha256 !== null && this.#contents.has(hashNumber(content_sha256))) ||
      (place.sha256 !== null && this.#files.has(hashNumber(place.sha256))) ||
      (source !== null && source.manifest === source.source && this.#manifests.has(source.source))
    );
  }

  /** Whether a part of a content is a restricted content itself: a turn, a prompt, a caption, an image in a record. */
  holdsPartOf(request: ItemRequest): boolean {
    if (this.isEmpty) return false;
    const file = fileSha256(request);
    if (file !== null && this.#files.has(hashNumber(file))) return true;
    return contentsIn(request).some((sha256) => this.#contents.has(hashNumber(sha256)));
  }
}

/** Of an image or a clip; null for a text. */
function fileSha256(request: ItemRequest): string | null {
  if (isMedia(request)) return request.file.sha256;
  return isEmbedded(request) ? hash('sha256', request.embedded) : null;
}

/** The content hashes that a content and its parts have, or would have as items of their own. */
function contentsIn(request: ItemRequest): string[] {
  if (isMedia(request)) return [contentSha256({ ...request, caption: null }), ...ofText(request.caption)];
  if (isEmbedded(request)) return [contentSha256(request)];
  switch (request.requestType) {
    case 'prompt':
      return ofText(request.text);
    case 'response':
      return [...ofText(request.prompt), ...ofText(request.response), contentSha256(request)];
    case 'generation': {
      const { prompt, chunks } = request;
      const response = chunks.join('');
      return [...ofText(prompt), ...ofText(response), ofPair(prompt, response)];
    }
    case 'multiturn': {
      const turns = history(request);
      const pairs = turns.slice(1).map(([, text], index) => ofPair(turns[index]![1], text));
      return [...conversationSha256(turns), ...turns.flatMap(([, text]) => ofText(text)), ...pairs];
    }
  }
}

/** As a text of its own, and as a response without its prompt. */
function ofText(text: string | null): string[] {
  if (text === null) return [];
  return [
    contentSha256({ requestType: 'prompt', modality: 'text', text }),
    contentSha256({ requestType: 'response', modality: 'text', prompt: null, response: text }),
  ];
}

function ofPair(prompt: string, response: string): string {
  return contentSha256({ requestType: 'response', modality: 'text', prompt, response });
}

function placeNumber({ path, row }: Place): number {
  return hashNumber(hash('sha256', `${row ?? ''}\n${path}`));
}

function hashNumber(sha256: string): number {
  return Number.parseInt(sha256.slice(0, HASH_DIGITS), 16);
}
