/**
 * Raw contents of tensors with one element (raw.ts describes the layout). The length is checked before anything is built
 * from what a peer sent. Null when the bytes are not one valid element.
 */

/** INT64 of a safe integer. */
export function encodeLong(value: number): Buffer {
  const raw = Buffer.allocUnsafe(8);
  raw.writeBigInt64LE(BigInt(value));
  return raw;
}

/** Values beyond 2^53 are approximate. */
export function oneLong(raw: Buffer): number | null {
  return raw.length === 8 ? Number(raw.readBigInt64LE()) : null;
}

export function oneFloat(raw: Buffer): number | null {
  return raw.length === 4 ? raw.readFloatLE() : null;
}

export function oneBoolean(raw: Buffer): boolean | null {
  return raw.length === 1 && raw[0]! <= 1 ? raw[0] === 1 : null;
}

/** The element of a BYTES tensor, as a view into `raw`. */
export function oneBytes(raw: Buffer): Buffer | null {
  return raw.length >= 4 && raw.readUInt32LE() === raw.length - 4 ? raw.subarray(4) : null;
}
