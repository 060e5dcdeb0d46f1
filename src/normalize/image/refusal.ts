import { itemError, type ItemCode, type ItemError } from '../../domain/item-error.ts';

/** Thrown if an image cannot be judged; becomes the item's outcome. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly itemError: ItemError;

  /** `message` is persisted: own words and numbers only. A decoder's message belongs in `cause`. */
  constructor(code: ItemCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.itemError = itemError(code, message);
  }
}

/** The refusal of an image that is truncated, contradicts itself, or fails its checksums. */
export function corrupt(cause?: unknown): Refusal {
  return new Refusal('CORRUPT_MEDIA', 'the image is truncated or corrupt', { cause });
}
