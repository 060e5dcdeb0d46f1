import type { Readable } from 'node:stream';
import type { Why } from '../messages.ts';

/** A file that holds others: the one that the process was given, or one inside it. */
export type Input =
  | { readonly name: string; readonly fd: number; readonly size: number }
  | { readonly name: string; readonly bytes: Buffer };

/** What an unpacker finds: a file, read before the next one is asked for, or one that cannot be read. */
export type Unpacked =
  | {
      readonly name: string;
      /** As the file around it says; null if it does not. */
      readonly bytes: number | null;
      readonly stream: () => Promise<Readable> | Readable;
      /** How many follow; null if that is not known. */
      readonly left: number | null;
    }
  | { readonly name: string; readonly problem: Why; readonly bytes?: number };

/** Lists what a file holds. Throws what its library throws when it is damaged. */
export type Unpacker = (input: Input) => AsyncGenerator<Unpacked, void>;
