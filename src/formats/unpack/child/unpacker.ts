import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { MAX_PART_BYTES, type Why } from '../messages.ts';

/** A file that contains others: the one that the process was given, or one inside it. */
export type Input =
  | { readonly name: string; readonly fd: number; readonly size: number }
  | { readonly name: string; readonly bytes: Buffer };

/**
 * Something found by an unpacker: a file, which must be read before the next one is requested, a rendered text, a
 * table, or a problem.
 */
export type Unpacked =
  | {
      readonly name: string;
      /** Size as stated by the containing file; null if it is not stated. */
      readonly bytes: number | null;
      readonly stream: () => Promise<Readable> | Readable;
      /** Number of entries that follow; null if unknown. */
      readonly left: number | null;
    }
  | {
      readonly name: string;
      readonly text: string;
      /** Number of entries that follow, if known. */
      readonly left?: number;
    }
  /** CSV with commas and line feeds. */
  | { readonly name: string; readonly csv: Buffer }
  | {
      readonly name: string;
      readonly problem: Why;
      readonly bytes?: number;
      /** Number of parts that are not read because of it. */
      readonly parts?: number;
    };

/** Limits on how far a file may still expand. */
export interface Budget {
  /** Counts bytes. Returns whether there is room for them. */
  takeBytes(bytes: number): boolean;
}

/**
 * Lists the content of a file. Throws TooLarge if anything else that it reads of the file exceeds the budget,
 * PartTooLarge, and the errors of its library if the file is damaged.
 */
export type Unpacker = (input: Input, budget: Budget) => AsyncGenerator<Unpacked, void>;

/** The file exceeds its limit on expansion. */
export class TooLarge extends Error {}

/** A file, or a part of one, exceeds the size limit. */
export class PartTooLarge extends Error {
  /** Minimum size of the file, in bytes. */
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
