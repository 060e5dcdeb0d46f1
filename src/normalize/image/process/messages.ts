import type { ItemError } from '../../../domain/item-error.ts';
import type { NormalImage, Picture, Pixels } from '../normal-image.ts';
import type { WantedFrames, WantedPicture } from '../normalize-image.ts';

/** The requested result: frames as files, the pixels of the first frame, or one frame as a picture. */
export type WantedForm = WantedFrames | WantedPicture | 'pixels';

/** The result for a request. */
export type Decoded<W extends WantedForm> = W extends 'pixels'
  ? Pixels
  : W extends WantedPicture
    ? Picture
    : NormalImage;

/** What any request results in. */
export type AnyDecoded = NormalImage | Pixels | Picture;

/**
 * Messages between this process and a decoder. The decoder reports `ready` once. Then, for one image at a time: `decode`
 * is sent, the decoder reports how much memory it `needs` and waits for `proceed`, and answers with `done`.
 */
export type ToDecoder =
  | { readonly kind: 'decode'; readonly bytes: Buffer; readonly wanted: WantedForm }
  | { readonly kind: 'proceed' };

export type FromDecoder =
  | { readonly kind: 'ready' }
  | { readonly kind: 'needs'; readonly bytes: number }
  | {
      readonly kind: 'done';
      readonly result: AnyDecoded | ItemError;
      /** Processor time that the process has used since it started. */
      readonly processorMs: number;
    };
