/** Brands of ISO media files that contain images (ISO/IEC 23008-12; AV1 Image File Format). */
const AVIF_BRANDS = 'avif|avis';
const HEIC_BRANDS = 'hei[cmsx]|hev[cmsx]|mif1|msf1';

/** The first box of an ISO media file is shorter than 256 MiB: its length, big-endian, begins with a byte below 0x10. */
const BOX_LENGTH = '[\\0-\\x0f]...';

/**
 * Magic bytes of file formats: patterns for the beginning of a file read as Latin-1, with their source. If a format has
 * two patterns, the longer one also checks header fields that a text beginning with the same letters does not have.
 */
const MAGIC_BYTES = {
  // Images
  /** ITU-T T.81, B.1.1.3: start of image, and the next marker. */
  jpeg: /^\xff\xd8\xff/,
  /** ISO/IEC 15948, 5.2. */
  png: /^\x89PNG\r\n\x1a\n/,
  /** GIF89a specification, 17. */
  gif: /^GIF8[79]a/,
  /** RFC 9649. */
  webp: /^RIFF....WEBP/s,
  /** TIFF 6.0, section 2; BigTIFF has 43 (`+`) where TIFF has 42 (`*`). */
  tiff: /^(?:II[*+]\0|MM\0[*+])/,
  /** BITMAPFILEHEADER of Windows: zeros in the reserved fields, or a DIB header of a valid size. */
  bmp: /^BM(?:....\0\0\0\0|.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0\0\0)/s,
  /** ICONDIR of Windows. */
  ico: /^\0\0\x01\0/,
  /** Byte order marks of the Unicode Standard, section 23.8. */
  utf32: /^(?:\xff\xfe\0\0|\0\0\xfe\xff)/,
  avif: new RegExp(`^${BOX_LENGTH}ftyp(?:${AVIF_BRANDS})`, 's'),
  heic: new RegExp(`^${BOX_LENGTH}ftyp(?:${HEIC_BRANDS})`, 's'),
  /** Adobe Photoshop File Formats Specification. */
  photoshop: /^8BPS\0\x01/,
  /** ITU-T T.800, I.5.1. */
  jpeg2000: /^\0\0\0\x0cjP {2}\r\n\x87\n/,
  /** ISO/IEC 18181-2 (in boxes), 18181-1 (bare). */
  jpegXlBoxes: /^\0\0\0\x0cJXL /,
  jpegXl: /^\xff\x0a/,
  /** DDS_HEADER of DirectX: its size is 124. */
  dds: /^DDS \x7c\0\0\0/,
  /** Netpbm: PGM, PPM and PAM in binary form. */
  pnm: /^P[4-7]\s/,

  // Audio
  /** Multimedia Programming Interface and Data Specifications (IBM, Microsoft). */
  riffWave: /^RIFF....WAVE/s,
  /** Also RF64 (EBU Tech 3306), BW64 (ITU-R BS.2088) and RIFX, which is big-endian. */
  wave: /^(?:RIFF|RIFX|RF64|BW64)....WAVE/s,
  /** Sony Wave64: a GUID in place of `RIFF`. */
  wave64: /^riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0/,
  wave64Start: /^riff\x2e\x91\xcf\x11/,
  /** Audio Interchange File Format, AIFF-C (Apple). */
  aiff: /^FORM....AIF[FC]/s,
  /** Sun and NeXT; the header is shorter than 64 KiB. */
  au: /^\.snd/,
  auHeader: /^\.snd\0\0/,
  /** Core Audio Format Specification (Apple). */
  caf: /^caff\0\x01/,
  /** RFC 9639, 6; a metadata block of a known type. */
  flac: /^fLaC/,
  flacBlock: /^fLaC[\0-\x06\x80-\x86]/,
  /** RFC 3533, 6; version 0 is the only one. */
  ogg: /^OggS/,
  oggVersion: /^OggS\0/,
  /** ID3 tag version 2.4.0, 3.1; versions up to 2.8. */
  id3: /^ID3/,
  id3Version: /^ID3[\0-\x08]/,
  /** ISO/IEC 11172-3, 2.4.1.3: sync, without the reserved version and the reserved layer. */
  mpegAudioFrame: /^\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]/,
  /** ISO/IEC 13818-7, 6.2 (ADTS): sync, and layer 0. */
  aacFrame: /^\xff[\xf0\xf1\xf8\xf9]/,
  m4a: new RegExp(`^${BOX_LENGTH}ftypM4[AB]`, 's'),
  /** RFC 4867, 5.1. */
  amr: /^#!AMR(?:-WB)?\n/,
  /** Monkey's Audio: version from 3584 to 4095. */
  monkeysAudio: /^MAC .[\x0e\x0f]/s,
  /** WavPack 4 and 5: the length of the block, then a version from 0x402 to 0x410. */
  wavPack: /^wvpk....[\x02-\x10]\x04/s,
  /** Musepack SV7 and SV8. */
  musepack7: /^MP\+[\x07\x17]/,
  musepack8: /^MPCKSH[\0-\x1f]/,
  /** DSF File Format Specification (Sony): the first chunk has 28 bytes. */
  dsf: /^DSD \x1c\0{7}/,

  // Video, and containers of either
  /** ISO/IEC 14496-12, 4.3. */
  isoMedia: /^....ftyp/s,
  /** ISO/IEC 14496-12; QuickTime files that predate `ftyp` begin with one of the other boxes. */
  isoBox: new RegExp(`^${BOX_LENGTH}(?:ftyp|moov|mdat|wide|free|skip)`, 's'),
  /** QuickTime File Format (Apple). A file may begin with its data, of any length. */
  quickTime: new RegExp(`^(?:${BOX_LENGTH}(?:ftyp|moov|wide|free|skip|pnot)|....mdat)`, 's'),
  /** RFC 8794 (EBML), the basis of Matroska and WebM. */
  matroska: /^\x1a\x45\xdf\xa3/,
  /** Advanced Systems Format (Microsoft), 10.1: GUID of the header object. */
  asf: /^\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c/,
  asfStart: /^\x30\x26\xb2\x75\x8e\x66\xcf\x11/,
  /** Video File Format Specification (Adobe). */
  flv: /^FLV\x01/,
  /** ISO/IEC 13818-1, 2.5.3.4: start code of a pack. */
  mpegProgram: /^\0\0\x01\xba/,
  /** AVI RIFF File Reference (Microsoft). */
  avi: /^RIFF....AVI /s,
  /** Autodesk FLI and FLC, after the length of the file. */
  flic: /^....[\x11\x12]\xaf/s,

  // Others
  /** APPNOTE.TXT (PKWARE), 4.3: a file, no file, or one part of several. */
  zip: /^PK(?:\x03\x04|\x05\x06|\x07\x08)/,
  /** [MS-CFB], 2.2. */
  compoundFile: /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/,
  /** RFC 1952, 2.3.1. */
  gzip: /^\x1f\x8b/,
  /** 7zFormat.txt (7-Zip). */
  sevenZip: /^7z\xbc\xaf\x27\x1c/,
  /** RAR technote (RARLAB). */
  rar: /^Rar!\x1a\x07/,
  /** The .xz File Format, 2.1.1.1. */
  xz: /^\xfd7zXZ\0/,
  /** bzip2: block size, then the magic of the first block. */
  bzip2: /^BZh[1-9]1AY&SY/,
  /** RFC 8878, 3.1.1. */
  zstandard: /^\x28\xb5\x2f\xfd/,
  /** POSIX.1 (pax), ustar interchange format. */
  tar: /^.{257}ustar/s,
  /** Database File Format (SQLite), 1.3.1. */
  sqlite: /^SQLite format 3\0/,
  /** Apache Parquet format. */
  parquet: /^PAR1/,
  /** System V ABI (gABI), 4. */
  elf: /^\x7fELF/,
  /** PE format (Microsoft): the DOS header. */
  dosProgram: /^MZ/,
  /** ISO 32000-1, 7.5.2. */
  pdf: /^%PDF-\d/,
  /** Encapsulated PostScript File Format Specification (Adobe), 5.2: with a preview. */
  epsPreview: /^\xc5\xd0\xd3\xc6[\0-\xff]{3}\0/,
  /** https://metacpan.org/dist/Mac-Finder-DSStore/view/DSStoreFormat.pod */
  dsStore: /^\0\0\0\x01Bud1/,
  /** RFC 1740, Appendix A: version 2. */
  appleDouble: /^\0\x05\x16\x07\0\x02\0\0/,
} as const satisfies Readonly<Record<string, RegExp>>;

/** Bytes examined by the longest pattern. */
const MAX_MAGIC_BYTES = 262;

/** Name of a pattern in `MAGIC_BYTES`. */
export type Magic = keyof typeof MAGIC_BYTES;

/** Whether bytes begin with the magic bytes of a format. */
export function hasMagicBytes(bytes: Buffer, magic: Magic): boolean {
  return MAGIC_BYTES[magic].test(beginningOf(bytes));
}

/** Returns the value of the first entry whose magic bytes match; null if there is none. */
export function findByMagicBytes<T>(
  bytes: Buffer,
  table: readonly (readonly [magic: Magic, value: T])[],
): T | null {
  const beginning = beginningOf(bytes);
  return table.find(([magic]) => MAGIC_BYTES[magic].test(beginning))?.[1] ?? null;
}

function beginningOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, MAX_MAGIC_BYTES);
}

/** The kind of image for a brand of an ISO media file; null for other brands. */
export function imageKindOfBrand(brand: string): 'avif' | 'heic' | 'sequence' | null {
  if (SEQUENCE_BRAND.test(brand)) return 'sequence';
  if (brand === 'avif') return 'avif';
  return HEIC_BRAND.test(brand) ? 'heic' : null;
}

const SEQUENCE_BRAND = /^(?:avis|hev[cmsx]|msf1)$/;
const HEIC_BRAND = new RegExp(`^(?:${HEIC_BRANDS})$`);
