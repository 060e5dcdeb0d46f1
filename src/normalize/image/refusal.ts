import { itemError, type ItemCode, type ItemError } from '../../domain/item-error.ts';

/** Thrown where an image turns out to be none that can be judged; becomes the item's outcome. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly itemError: ItemError;

  /** `message` is persisted: our own words and numbers only. What a decoder said belongs into `cause`. */
  constructor(code: ItemCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.itemError = itemError(code, message);
  }
}

/** The refusal of bytes that break off, contradict themselves, or fail their checksums. */
export function corrupt(cause?: unknown): Refusal {
  return new Refusal('CORRUPT_MEDIA', 'the image is truncated or corrupt', { cause });
}
