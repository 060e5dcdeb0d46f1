import { describe, expect, test } from 'vitest';
import { decompress } from '../../../src/formats/parquet/codecs/decompress.ts';
import { Expansion } from '../../../src/formats/parquet/expansion.ts';
import { readHybrid } from '../../../src/formats/parquet/levels.ts';
import { ParquetProblem } from '../../../src/formats/parquet/parquet-problem.ts';
import { readStruct } from '../../../src/formats/parquet/thrift.ts';
import { readValues } from '../../../src/formats/parquet/values.ts';

const TEXTS = { type: 'BYTE_ARRAY', length: undefined };
const INTEGERS = { type: 'INT64', length: undefined };

describe('is refused without work beyond its bytes:', () => {
  test.each<[name: string, read: () => unknown]>([
    ['a number of a million bytes', () => readStruct(Buffer.alloc(1_000_000, 0x80).fill(0x16, 0, 1), 0)],
    ['metadata nested a million deep', () => readStruct(Buffer.alloc(1_000_000, 0x1c), 0)],
    ['a list of a billion', () => readStruct(Buffer.from([0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x03]), 0)],
    ['a text longer than the file', () => readStruct(Buffer.from([0x18, 0xff, 0xff, 0xff, 0xff, 0x07]), 0)],
    ['a run of a billion', () => readHybrid(Buffer.from([0xfe, 0xff, 0xff, 0xff, 0x0f]), 8, 1000)],
    ['a group of a billion', () => readHybrid(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]), 1, 1000)],
    [
      'a literal of Snappy of negative length',
      () => decompress(Buffer.from([10, 0xfc, 0xff, 0xff, 0xff, 0xff]), 'SNAPPY', 10),
    ],
    [
      'a copy of Snappy from before the beginning',
      () => decompress(Buffer.from([10, 0xfe, 0xff, 0xff]), 'SNAPPY', 10),
    ],
    ['a block of Zstandard that repeats a byte', () => decompress(ZSTD_BOMB, 'ZSTD', 1000)],
    ['GZIP that holds more than it says', () => decompress(GZIP_OF_MANY, 'GZIP', 10)],
    [
      'a text longer than its page',
      () => readValues(Buffer.from([255, 255, 255, 255]), 'PLAIN', 1, TEXTS, null),
    ],
    ['more values than bytes', () => readValues(Buffer.alloc(8), 'PLAIN', 1_000_000_000, TEXTS, null)],
    [
      'an index outside the dictionary',
      () => readValues(Buffer.from([8, 2, 200]), 'RLE_DICTIONARY', 1, TEXTS, []),
    ],
    [
      'differences in no blocks',
      () => readValues(Buffer.from([0, 0, 5, 0]), 'DELTA_BINARY_PACKED', 5, INTEGERS, null),
    ],
    ['a prefix of nothing', () => readValues(PREFIX_OF_NOTHING, 'DELTA_BYTE_ARRAY', 1, TEXTS, null)],
    ['more than a thousand times its size', () => new Expansion(10).spend(2 ** 30 + 10_001)],
  ])('%s', (_name, read) => {
    expect(read).toThrow(ParquetProblem);
  });
});

/** A frame without a size: a block of one byte, repeated 128 KB. */
const ZSTD_BOMB = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x03, 0x00, 0x10, 0x41]);
const GZIP_OF_MANY = Buffer.from('H4sIAAAAAAAAA0tMTEwEAKYrA0wEAAAA', 'base64');
/** Blocks of 128 in 4 miniblocks: one prefix of 5 bytes, one suffix of none. */
const PREFIX_OF_NOTHING = Buffer.from([0x80, 0x01, 4, 1, 10, 0x80, 0x01, 4, 1, 0]);
