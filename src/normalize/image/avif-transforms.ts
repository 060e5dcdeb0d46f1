/** Boxes that contain the properties of a picture (ISO/IEC 14496-12 and 23008-12). */
const META = 'meta';
const CONTAINERS = new Set(['iprp', 'ipco']);
/** Version and flags at the beginning of the contents of a `meta` box. */
const FULL_BOX_BYTES = 4;
const HEADER_BYTES = 8;

/** Rotation and mirroring. Both have a body of one byte, so that one can overwrite the other. */
const TRANSFORMS = new Set(['irot', 'imir']);

/**
 * A copy of an AVIF file without rotation and mirroring: each such property becomes a rotation by 0. The decoder always
 * applies these properties, but normal form has the pixels as stored. Broken boxes are left for the decoder to report.
 * Returns the file itself if there is nothing to undo.
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

/** Positions of such boxes. */
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
