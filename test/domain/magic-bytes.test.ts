import { expect, test } from 'vitest';
import { hasMagicBytes, findByMagicBytes, imageKindOfBrand } from '../../src/domain/magic-bytes.ts';

const bytes = (latin1: string): Buffer => Buffer.from(latin1, 'latin1');

test('the first entry counts whose magic bytes a file begins with', () => {
  const table = [
    ['flacBlock', 'block'],
    ['flac', 'letters'],
  ] as const;
  expect(findByMagicBytes(bytes('fLaC\0'), table)).toBe('block');
  expect(findByMagicBytes(bytes('fLaC is lossless'), table)).toBe('letters');
  expect(findByMagicBytes(bytes('a fLaC\0'), table)).toBeNull();
});

test('a mark that stands far into the file is found there, and nowhere else', () => {
  const archive = Buffer.alloc(1024, 'x');
  archive.write('ustar', 257);
  const found = [archive, archive.subarray(1), archive.subarray(0, 261)].map((each) =>
    hasMagicBytes(each, 'tar'),
  );
  expect(found).toEqual([true, false, false]);
});

test.each([
  ['avif', 'avif'],
  ['heic', 'heic'],
  ['msf1', 'sequence'],
  ['xheic', null],
])('the brand %s means %s', (brand, picture) => expect(imageKindOfBrand(brand)).toBe(picture));
