import type { ItemError } from '../../../domain/item-error.ts';
import type { NormalImage, Pixels } from '../normal-image.ts';
import type { WantedFrames } from '../normalize-image.ts';

/** What is wanted of an image: its frames as files, or the pixels of the first one. */
export type Wanted = WantedFrames | 'pixels';

/** What comes back. */
export type Decoded<W extends Wanted> = W extends 'pixels' ? Pixels : NormalImage;

/**
 * What passes between this process and one that decodes, which says first that it has started. An image is asked for; the decoder says once how much memory
 * it needs and waits until it may proceed; it answers. One image at a time.
 */
export type ToDecoder =
  { readonly kind: 'decode'; readonly bytes: Buffer; readonly wanted: Wanted } | { readonly kind: 'proceed' };

export type FromDecoder =
  | { readonly kind: 'ready' }
  | { readonly kind: 'needs'; readonly bytes: number }
  | {
      readonly kind: 'done';
      readonly result: NormalImage | Pixels | ItemError;
      /** Processor time that the process has used since it began. */
      readonly processorMs: number;
    };
