import { createRequire } from 'node:module';
import {
  checkDecodedPixels,
  checkFrameCount,
  checkFrameMemory,
  checkFrameSize,
  corrupt,
  ImageRefusal,
} from './limits.ts';
import type { Pixels } from './normal-image.ts';
import type { ImageFile } from './open-image.ts';

/** HEIC photographs: libvips has no decoder for HEVC, so libheif decodes them as WebAssembly. */

/** The library's objects, which live until they are released. */
type Context = { readonly context: never };
type Handle = { readonly handle: never };
type Failure = { readonly code: unknown };

/** The libheif functions in use. */
interface Libheif {
  heif_context_alloc(): Context;
  heif_context_read_from_memory(context: Context, bytes: Uint8Array): Failure;
  heif_js_context_get_list_of_top_level_image_IDs(context: Context): readonly number[] | Failure;
  heif_js_context_get_image_handle(context: Context, id: number): Handle | Failure;
  heif_image_handle_is_primary_image(handle: Handle): number;
  heif_image_handle_get_width(handle: Handle): number;
  heif_image_handle_get_height(handle: Handle): number;
  heif_js_decode_image2(handle: Handle, colorspace: unknown, chroma: unknown): Decoded | Failure;
  heif_image_release(image: unknown): void;
  readonly heif_error_code: Readonly<
    Record<'heif_error_Ok' | 'heif_error_Unsupported_feature' | 'heif_error_Memory_allocation_error', unknown>
  >;
  readonly heif_colorspace: { readonly heif_colorspace_RGB: unknown };
  readonly heif_chroma: { readonly heif_chroma_interleaved_RGB: unknown };
}

interface Decoded {
  readonly image: unknown;
  /** A single one, with three bytes per pixel. `data` is a view of the library's memory. */
  readonly channels: readonly {
    readonly width: number;
    readonly height: number;
    readonly stride: number;
    readonly data: Uint8Array;
  }[];
}

/** The library, compiled into one file. */
export const LIBHEIF = 'libheif-js/libheif-wasm/libheif-bundle.js';

/** Bytes per pixel of the result, and of the planes that the library holds (measured for 4:4:4 of 10 bits). */
const BYTES_PER_PIXEL = 3 + 15;

/**
 * Opens a HEIC file, whose rotation must have been undone. Its frames are its images, the primary one first, without
 * thumbnails, depth maps and other auxiliary images. Each file gets a separate instance of the library: after an error
 * its state is unknown, and it never releases memory. Throws an ImageRefusal.
 */
export function openHeic(bytes: Buffer): ImageFile {
  const heif = (createRequire(import.meta.url)(LIBHEIF) as () => Libheif)();
  const context = heif.heif_context_alloc();
  unlessFailed(heif, () => heif.heif_context_read_from_memory(context, bytes));
  const ids = unlessFailed(heif, () => heif.heif_js_context_get_list_of_top_level_image_IDs(context));
  checkFrameCount(ids.length);
  const handles = ids.map((id) =>
    unlessFailed(heif, () => heif.heif_js_context_get_image_handle(context, id)),
  );
  const isPrimary = (handle: Handle): number => heif.heif_image_handle_is_primary_image(handle);
  const frames = handles.sort((one, other) => isPrimary(other) - isPrimary(one));
  if (frames.length === 0) throw corrupt();
  return {
    total: frames.length,
    decodable: frames.length,
    plain: false,
    async measure(chosen) {
      let [largest, decoded] = [0, 0];
      for (const frame of chosen) {
        const width = heif.heif_image_handle_get_width(frames[frame]!);
        const height = heif.heif_image_handle_get_height(frames[frame]!);
        checkFrameSize(width, height);
        largest = Math.max(largest, width * height * BYTES_PER_PIXEL);
        decoded += width * height;
      }
      checkDecodedPixels(decoded);
      checkFrameMemory(largest);
      return largest;
    },
    async *decode(chosen): AsyncGenerator<Pixels, void, void> {
      for (const frame of chosen) yield decodeFrame(heif, frames[frame]!);
    },
  };
}

/** The stored colours of an image, reduced to the upper 8 bits of each channel. */
function decodeFrame(heif: Libheif, handle: Handle): Pixels {
  const { heif_colorspace_RGB: space } = heif.heif_colorspace;
  const { heif_chroma_interleaved_RGB: chroma } = heif.heif_chroma;
  const { image, channels } = unlessFailed(heif, () => heif.heif_js_decode_image2(handle, space, chroma));
  const [channel] = channels;
  if (channel === undefined) throw corrupt();
  const { width, height, stride, data } = channel;
  checkFrameSize(width, height);
  const rgb = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    rgb.set(data.subarray(row * stride, row * stride + width * 3), row * width * 3);
  }
  heif.heif_image_release(image);
  return { width, height, rgb };
}

/** Calls the library and returns its result. Throws an ImageRefusal if it returns an error, or throws. */
function unlessFailed<T>(heif: Libheif, call: () => T): Exclude<T, Failure> {
  let result: T | Failure;
  try {
    result = call();
  } catch (cause) {
    throw corrupt(cause);
  }
  const codes = heif.heif_error_code;
  const code = (result as Partial<Failure>).code ?? codes.heif_error_Ok;
  if (code === codes.heif_error_Ok) return result as Exclude<T, Failure>;
  if (code === codes.heif_error_Memory_allocation_error) {
    throw new ImageRefusal('MEDIA_TOO_LARGE', 'decoding the image takes too much memory');
  }
  if (code === codes.heif_error_Unsupported_feature) {
    throw new ImageRefusal('UNSUPPORTED_TYPE', 'the image is a variant of HEIF that is not read');
  }
  throw corrupt(result);
}
