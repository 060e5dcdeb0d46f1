/** Patches for files that libvips would otherwise not decode to the stored colours and pixels. */

const GIF_HEADER_BYTES = 13;
const EXTENSION = 0x21;
const GRAPHIC_CONTROL = 0xf9;
const TRANSPARENCY_FLAG = 1;

/**
 * A copy of a GIF file whose first frame is opaque: libvips shows its transparent pixels black, but the normalized
 * format has their stored colour. Transparent pixels of later frames show what lies below them, as in a viewer. Broken
 * blocks are left for the decoder to report.
 */
export function withOpaqueFirstFrame(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const flags = copy[10] ?? 0;
  let at = GIF_HEADER_BYTES + ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  for (; copy[at] === EXTENSION; at++) {
    if (copy[at + 1] === GRAPHIC_CONTROL && at + 3 < copy.length) copy[at + 3]! &= ~TRANSPARENCY_FLAG;
    at += 2;
    while (at < copy.length && copy[at] !== 0) at += 1 + copy[at]!;
  }
  return copy;
}

/** Boxes that contain the properties of an image (ISO/IEC 14496-12 and 23008-12). */
const META = 'meta';
const CONTAINERS = new Set(['iprp', 'ipco']);
/** Version and flags at the beginning of the contents of a `meta` box. */
const FULL_BOX_BYTES = 4;
const HEADER_BYTES = 8;

/** Rotation and mirroring. Both have a body of one byte, so one can overwrite the other. */
const TRANSFORMS = new Set(['irot', 'imir']);

/**
 * A copy of an AVIF file without rotation and mirroring: each such property becomes a rotation by 0. The decoder always
 * applies these properties, but the normalized format has the pixels as stored. Broken boxes are left for the decoder
 * to report. Returns the file itself if there is nothing to undo.
 */
export function withoutTransforms(bytes: Buffer): Buffer {
  const found = [...transforms(bytes, 0, bytes.length)];
  if (found.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  for (const at of found) {
    copy.write('irot', at + 4, 'latin1');
    copy[at + HEADER_BYTES] = 0;
  }
  return copy;
}

/** Positions of the transform boxes. */
function* transforms(bytes: Buffer, from: number, end: number): Generator<number, void, void> {
  for (let at = from; at + HEADER_BYTES <= end;) {
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + HEADER_BYTES);
    const boxEnd = size === 0 ? end : at + size;
    if ((size !== 0 && size < HEADER_BYTES) || boxEnd > end) return;
    if (TRANSFORMS.has(type) && size > HEADER_BYTES) yield at;
    else if (type === META) yield* transforms(bytes, at + HEADER_BYTES + FULL_BOX_BYTES, boxEnd);
    else if (CONTAINERS.has(type)) yield* transforms(bytes, at + HEADER_BYTES, boxEnd);
    at = boxEnd;
  }
}
