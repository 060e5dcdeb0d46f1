import { numberedPart } from './draft.ts';

/** A field's name that parts may show: an identifier of at most 40 characters. Other names may be content. */
const FIELD_NAME = /^[\p{L}_][\p{L}\p{N}_-]{0,39}$/u;

/** Numbers the pieces of a record within the field that each is in. */
export class PartCounter {
  readonly #pieces = new Map<string, number>();

  /** The part of the next piece: `comments[2]`. It is `nested[2]` if the field has no name that parts may show. */
  next(field: string | undefined): string {
    const name = field !== undefined && FIELD_NAME.test(field) ? field : 'nested';
    const number = (this.#pieces.get(name) ?? 0) + 1;
    this.#pieces.set(name, number);
    return numberedPart(name, number);
  }
}
