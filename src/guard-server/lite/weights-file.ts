import { endianness } from 'node:os';
import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import { Failure } from '../../domain/failure.ts';
import { BUCKETS } from './features.ts';

/** One output a category in the taxonomy's order, and last the one for any hazard at all. */
export const OUTPUTS = CATEGORY_COUNT + 1;
export const OVERALL = CATEGORY_COUNT;

/** Width of the hidden layer. */
export const HIDDEN = 32;

/** A network of one hidden layer: hashed features, rectified hidden units, one logit an output. */
export interface LiteWeights {
  /** Row by bucket, HIDDEN wide, in steps of `scale`. */
  readonly table: Int8Array;
  /** What one step of the table is worth, by hidden unit. */
  readonly scale: Float32Array;
  readonly hiddenBias: Float32Array;
  /** Row by output, HIDDEN wide. */
  readonly output: Float32Array;
  readonly outputBias: Float32Array;
}

/** The file begins with these bytes; the digit changes with the layout. */
const MAGIC = Buffer.from('GSWLITE1', 'latin1');

const FLOATS = HIDDEN + HIDDEN + OUTPUTS * HIDDEN + OUTPUTS;
const FLOAT_BYTES = FLOATS * Float32Array.BYTES_PER_ELEMENT;

/** Size of the file: the magic, all floats (little-endian) in the order of LiteWeights, the table. */
const FILE_BYTES = MAGIC.length + FLOAT_BYTES + BUCKETS * HIDDEN;

function assertLittleEndian(): void {
  if (endianness() !== 'LE')
    throw new Failure('internal', 'the embedded text model needs a little-endian machine');
}

/** The file's bytes for these weights. */
export function encodeWeights(weights: LiteWeights): Buffer {
  assertLittleEndian();
  const floats = new Float32Array(FLOATS);
  let at = 0;
  for (const part of [weights.scale, weights.hiddenBias, weights.output, weights.outputBias]) {
    floats.set(part, at);
    at += part.length;
  }
  return Buffer.concat([MAGIC, Buffer.from(floats.buffer), Buffer.from(weights.table.buffer)]);
}

/** Weights from the file's bytes; a Failure (internal) when they are not such a file. */
export function decodeWeights(file: Buffer): LiteWeights {
  assertLittleEndian();
  if (file.length !== FILE_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new Failure('internal', 'the weights of the embedded text model are damaged or of another version');
  }
  // Copied out, because the file's buffer need not be aligned for floats.
  const floats = new Float32Array(FLOATS);
  Buffer.from(floats.buffer).set(file.subarray(MAGIC.length, MAGIC.length + FLOAT_BYTES));
  let at = 0;
  const take = (length: number): Float32Array => floats.subarray(at, (at += length));
  const tableBytes = file.subarray(MAGIC.length + FLOAT_BYTES);
  return {
    scale: take(HIDDEN),
    hiddenBias: take(HIDDEN),
    output: take(OUTPUTS * HIDDEN),
    outputBias: take(OUTPUTS),
    table: new Int8Array(tableBytes.buffer, tableBytes.byteOffset, tableBytes.length),
  };
}
