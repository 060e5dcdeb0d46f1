import { TAGS, type TiffDirectory } from './tiff-directories.ts';

/** Unsupported compression methods, by number. */
const UNSUPPORTED_METHODS = new Map([
  [6, 'old-style JPEG'],
  [32809, 'ThunderScan'],
  [32909, 'Pixar'],
  [34661, 'JBIG'],
  [34676, 'SGI'],
  [34677, 'SGI'],
  [34712, 'JPEG 2000'],
  [34925, 'LZMA'],
  [50000, 'Zstandard'],
  [50002, 'JPEG XL'],
]);

/** Photometric interpretations other than RGB, grey, palette index and ink. */
const PHOTOMETRICS = new Map([
  [8, 'in a Lab colour space'],
  [9, 'in a Lab colour space'],
  [10, 'in a Lab colour space'],
  [32803, 'with the raw samples of a sensor'],
  [32844, 'with logarithmic luminance'],
  [32845, 'with logarithmic luminance'],
]);
const TRANSPARENCY_MASK = 4;
const CMYK = 5;

const SAMPLE_FORMATS = new Map([
  [2, 'with signed samples'],
  [3, 'with floating-point samples'],
  [5, 'with complex samples'],
  [6, 'with complex samples'],
]);

/** PlanarConfiguration: channels are stored separately. */
const PLANAR = 2;
/** NewSubfileType flag: a reduced version of another page. */
const REDUCED = 1;

/**
 * Names the unsupported variant of a page, in words that follow "a TIFF image"; null for all others. Used only to explain
 * why libvips refused a page.
 */
export function tiffVariant({ values }: TiffDirectory): string | null {
  const [method] = values(TAGS.compression);
  const [photometric] = values(TAGS.photometric);
  const [format] = values(TAGS.sampleFormat);
  const compression = UNSUPPORTED_METHODS.get(method ?? 1);
  if (compression !== undefined) return `with ${compression} compression`;
  return (
    PHOTOMETRICS.get(photometric ?? 0) ??
    SAMPLE_FORMATS.get(format ?? 1) ??
    variantOfBits(values(TAGS.bits), values(TAGS.samples)[0] ?? 1, photometric) ??
    (values(TAGS.planes)[0] === PLANAR && values(TAGS.tileWidth).length > 0
      ? 'with separate channels in tiles'
      : null)
  );
}

function variantOfBits(
  bits: readonly number[],
  samples: number,
  photometric: number | undefined,
): string | null {
  const [first = 1] = bits;
  if (bits.some((other) => other !== first)) return 'with channels of different widths';
  const known = samples === 1 ? [1, 2, 4, 8, 16] : photometric === CMYK ? [8] : [8, 16];
  return known.includes(first) ? null : `with ${first} bits per channel`;
}

/** Whether a page is the transparency mask of another, with one bit per pixel. */
export function isTransparencyMask({ values }: TiffDirectory): boolean {
  return values(TAGS.photometric)[0] === TRANSPARENCY_MASK && (values(TAGS.bits)[0] ?? 1) === 1;
}

/** Whether a page is a reduced version of another. */
export function isOverview({ values }: TiffDirectory): boolean {
  return ((values(TAGS.subfile)[0] ?? 0) & REDUCED) !== 0;
}
