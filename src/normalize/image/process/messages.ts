import type { ItemError } from '../../../domain/item-error.ts';
import type { NormalImage } from '../normal-image.ts';

/**
 * What passes between this process and one that decodes. An image is asked for; the decoder says once how much memory
 * it needs and waits until it may proceed; it answers. One image at a time.
 */
export type ToDecoder =
  | { readonly kind: 'normalize'; readonly bytes: Buffer; readonly frames: number }
  | { readonly kind: 'proceed' };

export type FromDecoder =
  | { readonly kind: 'needs'; readonly bytes: number }
  | {
      readonly kind: 'done';
      readonly result: NormalImage | ItemError;
      /** Processor time that the process has used since it began. */
      readonly processorMs: number;
    };
