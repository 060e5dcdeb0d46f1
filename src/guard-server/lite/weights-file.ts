import { endianness } from 'node:os';
import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import { Failure } from '../../domain/failure.ts';
import { BUCKETS } from './features.ts';
import { Vocabulary } from './vocabulary.ts';

/** One output per category in taxonomy order, and the last one for any hazard. */
export const OUTPUTS = CATEGORY_COUNT + 1;
export const OVERALL = CATEGORY_COUNT;

/** Width of the hidden layer. */
export const HIDDEN = 32;

/** A network with one hidden layer: hashed features, rectified hidden units, one logit per output. */
export interface LiteWeights {
  /** One row per bucket, HIDDEN wide, in units of `scale`. */
  readonly table: Int8Array;
  /** Value of one step of the table, per hidden unit. */
  readonly scale: Float32Array;
  readonly hiddenBias: Float32Array;
  /** One row per output, HIDDEN wide. */
  readonly output: Float32Array;
  readonly outputBias: Float32Array;
  readonly vocabulary: Vocabulary;
}

/** The first bytes of the file; the digit is the version of the layout. */
const MAGIC = Buffer.from('GSWLITE2', 'latin1');

const FLOATS = HIDDEN + HIDDEN + OUTPUTS * HIDDEN + OUTPUTS;
const FLOAT_BYTES = FLOATS * Float32Array.BYTES_PER_ELEMENT;

/**
 * Layout of the file: magic, length of the words in bytes, floats in the order of `encodeWeights`, table, words, one
 * per line.
 */
const FLOATS_AT = MAGIC.length + Uint32Array.BYTES_PER_ELEMENT;
const TABLE_AT = FLOATS_AT + FLOAT_BYTES;
const WORDS_AT = TABLE_AT + BUCKETS * HIDDEN;

function assertLittleEndian(): void {
  if (endianness() !== 'LE')
    throw new Failure('internal', 'the embedded text model needs a little-endian machine');
}

/** Writes the weights file: the training side of the file format, kept next to its reader. */
export function encodeWeights(weights: LiteWeights): Buffer {
  assertLittleEndian();
  const floats = new Float32Array(FLOATS);
  let at = 0;
  for (const part of [weights.scale, weights.hiddenBias, weights.output, weights.outputBias]) {
    floats.set(part, at);
    at += part.length;
  }
  const words = Buffer.from(weights.vocabulary.words.join('\n'));
  const length = Buffer.from(Uint32Array.of(words.length).buffer);
  return Buffer.concat([MAGIC, length, Buffer.from(floats.buffer), Buffer.from(weights.table.buffer), words]);
}

/** Reads the weights file. Failure('internal') when it is damaged. */
export function decodeWeights(file: Buffer): LiteWeights {
  assertLittleEndian();
  const isComplete = file.length >= WORDS_AT && file.length === WORDS_AT + file.readUInt32LE(MAGIC.length);
  if (!isComplete || !file.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new Failure('internal', 'the weights of the embedded text model are damaged or of another version');
  }
  // Copied, because the file's buffer need not be aligned for floats.
  const floats = new Float32Array(FLOATS);
  Buffer.from(floats.buffer).set(file.subarray(FLOATS_AT, TABLE_AT));
  let at = 0;
  const take = (length: number): Float32Array => floats.subarray(at, (at += length));
  const tableBytes = file.subarray(TABLE_AT, WORDS_AT);
  return {
    scale: take(HIDDEN),
    hiddenBias: take(HIDDEN),
    output: take(OUTPUTS * HIDDEN),
    outputBias: take(OUTPUTS),
    table: new Int8Array(tableBytes.buffer, tableBytes.byteOffset, tableBytes.length),
    vocabulary: new Vocabulary(file.toString('utf8', WORDS_AT).split('\n')),
  };
}
