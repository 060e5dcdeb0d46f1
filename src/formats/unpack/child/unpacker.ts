import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { MAX_PART_BYTES, type Why } from '../messages.ts';

/** A file that holds others: the one that the process was given, or one inside it. */
export type Input =
  | { readonly name: string; readonly fd: number; readonly size: number }
  | { readonly name: string; readonly bytes: Buffer };

/** What an unpacker finds: a file, read before the next one is asked for; a text as rendered; a table; or what cannot be read. */
export type Unpacked =
  | {
      readonly name: string;
      /** As the file around it says; null if it does not. */
      readonly bytes: number | null;
      readonly stream: () => Promise<Readable> | Readable;
      /** How many follow; null if that is not known. */
      readonly left: number | null;
    }
  | {
      readonly name: string;
      readonly text: string;
      /** How many follow, if that is known. */
      readonly left?: number;
    }
  /** In CSV, with commas and line feeds. */
  | { readonly name: string; readonly csv: Buffer }
  | {
      readonly name: string;
      readonly problem: Why;
      readonly bytes?: number;
      /** How many parts are not read for it. */
      readonly parts?: number;
    };

/** What a file may still expand to. */
export interface Budget {
  /** Counts bytes. Whether there is room for them. */
  takeBytes(bytes: number): boolean;
}

/**
 * Lists what a file holds. Throws TooLarge when what it reads of it beside that exceeds the budget, PartTooLarge, and what its
 * library throws when it is damaged.
 */
export type Unpacker = (input: Input, budget: Budget) => AsyncGenerator<Unpacked, void>;

/** The file expands to more than it may. */
export class TooLarge extends Error {}

/** A file, or a part of one, is larger than one may be. */
export class PartTooLarge extends Error {
  /** How many bytes it has at least. */
  readonly bytes: number;

  constructor(bytes: number) {
    super();
    this.bytes = bytes;
  }
}

/** The content of a file, in pieces. */
export async function* piecesOf(input: Input): AsyncGenerator<Buffer, void> {
  if ('bytes' in input) yield input.bytes;
  else yield* createReadStream('', { fd: input.fd, start: 0, autoClose: false }) as AsyncIterable<Buffer>;
}

/** The whole content of a file, for a library that needs it in memory. Throws PartTooLarge. */
export async function bytesOf(input: Input): Promise<Buffer> {
  if ('bytes' in input) return input.bytes;
  if (input.size > MAX_PART_BYTES) throw new PartTooLarge(input.size);
  return buffer(piecesOf(input));
}

/** A file inside another that is in memory. */
export function fileInside(name: string, bytes: Buffer): Unpacked {
  return { name, bytes: bytes.length, left: null, stream: () => Readable.from([bytes]) };
}
