import { TAGS, type TiffDirectory } from './tiff-directories.ts';

/** Compression methods that are not decoded, by their number. */
const METHODS = new Map([
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

/** Meanings of samples that are no stored RGB, grey, palette index or ink. */
const MEANINGS = new Map([
  [8, 'in a Lab colour space'],
  [9, 'in a Lab colour space'],
  [10, 'in a Lab colour space'],
  [32803, 'with the raw samples of a sensor'],
  [32844, 'with logarithmic luminance'],
  [32845, 'with logarithmic luminance'],
]);
const TRANSPARENCY_MASK = 4;
const CMYK = 5;

const KINDS_OF_NUMBERS = new Map([
  [2, 'with signed samples'],
  [3, 'with floating-point samples'],
  [5, 'with complex samples'],
  [6, 'with complex samples'],
]);

const APART = 2;
const REDUCED = 1;

/**
 * Which rare variant of TIFF a page is in that is not decoded, in words that follow "a TIFF image"; null for all
 * others. Whether libvips decodes a page it says itself: this is about why it does not.
 */
export function tiffVariant({ values }: TiffDirectory): string | null {
  const [method] = values(TAGS.compression);
  const [meaning] = values(TAGS.photometric);
  const [kind] = values(TAGS.sampleFormat);
  const compression = METHODS.get(method ?? 1);
  if (compression !== undefined) return `with ${compression} compression`;
  return (
    MEANINGS.get(meaning ?? 0) ??
    KINDS_OF_NUMBERS.get(kind ?? 1) ??
    variantOfBits(values(TAGS.bits), values(TAGS.samples)[0] ?? 1, meaning) ??
    (values(TAGS.planes)[0] === APART && values(TAGS.tileWidth).length > 0
      ? 'with its channels apart in tiles'
      : null)
  );
}

function variantOfBits(bits: readonly number[], samples: number, meaning: number | undefined): string | null {
  const [first = 1] = bits;
  if (bits.some((other) => other !== first)) return 'with channels of different widths';
  const known = samples === 1 ? [1, 2, 4, 8, 16] : meaning === CMYK ? [8] : [8, 16];
  return known.includes(first) ? null : `with ${first} bits per channel`;
}

/** Whether a page is the transparency of another one, one bit per pixel. */
export function isTransparencyMask({ values }: TiffDirectory): boolean {
  return values(TAGS.photometric)[0] === TRANSPARENCY_MASK && (values(TAGS.bits)[0] ?? 1) === 1;
}

/** Whether a page says that it is another one made smaller. */
export function isOverview({ values }: TiffDirectory): boolean {
  return ((values(TAGS.subfile)[0] ?? 0) & REDUCED) !== 0;
}
