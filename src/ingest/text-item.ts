import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import { itemError } from '../domain/item-error.ts';
import { type Item } from '../domain/item.ts';
import { promptDraft, settled, type Draft } from '../formats/transcripts/draft.ts';
import { type ItemMaker } from './item-maker.ts';
import { type OpenSource, type SourceHead } from './open-source.ts';
import { type FrozenSource } from './plan-line.ts';

/**
 * SHA-256 of the bytes of a file as they are read. Whether it is wanted is only known once the first of them were
 * looked at; until then they are kept.
 */
export class FileHash {
  #kept: Buffer[] | null = [];
  #hash: Hash | null = null;

  add(piece: Buffer): void {
    this.#hash?.update(piece);
    this.#kept?.push(piece);
  }

  /** Hashes what came and what comes. */
  begin(): void {
    this.#hash = createHash('sha256');
    for (const piece of this.#kept ?? []) this.#hash.update(piece);
    this.#kept = null;
  }

  /** Hashes nothing and keeps nothing. */
  leave(): void {
    this.#kept = null;
  }

  /** 64 hex digits. */
  digest(): string {
    return this.#hash!.digest('hex');
  }
}

/** Reads a file that is one text as a whole; beyond the size of an item only its hash is taken. */
export async function readTextItem(
  file: OpenSource,
  head: SourceHead,
  hash: FileHash,
  target: { readonly maker: ItemMaker; readonly source: FrozenSource; readonly itemBytes: number },
): Promise<Item> {
  hash.begin();
  let pieces = [head.text];
  let bytes = head.text.length;
  for await (const piece of file.rest()) {
    bytes += piece.length;
    if (bytes > target.itemBytes) pieces = [];
    else pieces.push(piece);
  }
  const draft =
    bytes > target.itemBytes
      ? settled(
          '',
          'prompt',
          itemError('ITEM_TOO_LARGE', `the text has ${bytes} bytes of at most ${target.itemBytes}`),
        )
      : textDraft(Buffer.concat(pieces));
  return target.maker.wholeFile({ sha256: hash.digest(), bytes: target.source.bytes }, draft);
}

function textDraft(bytes: Buffer): Draft {
  if (isUtf8(bytes)) return promptDraft('', bytes.toString());
  return settled('', 'prompt', itemError('INVALID_ENCODING', 'the file holds bytes that are not text'));
}
