import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { decodeLzw, openGif } from '../../../src/normalize/image/gif/gif-file.ts';

const FOLDER = new URL('../../fixtures/images/', import.meta.url);
const animations = readdirSync(FOLDER).filter((name) => /^(?:animated|disposal-\d)\.gif$/.test(name));

describe('animations are painted as another decoder paints them, wherever that sees a colour', () => {
  it.each(animations)('%s', async (name) => {
    const bytes = await readFile(new URL(name, FOLDER));
    const file = openGif(bytes);
    const every = Array.from({ length: file.total }, (_, index) => index);
    let compared = 0;
    let page = 0;
    for await (const { rgb } of file.decode(every)) {
      const reference = await sharp(bytes, { page: page++ }).ensureAlpha().raw().toBuffer();
      for (let from = 0, at = 0; from < reference.length; from += 4, at += 3) {
        if (reference[from + 3] !== 255) continue;
        compared++;
        const [red, green, blue] = [rgb[at], rgb[at + 1], rgb[at + 2]];
        if (red === reference[from] && green === reference[from + 1] && blue === reference[from + 2])
          continue;
        throw new Error(`frame ${page - 1} differs at byte ${at}`);
      }
    }
    expect(page).toBe(file.total);
    expect(compared).toBeGreaterThan(1000);
  });

  it('gives the same frames however many are asked for', async () => {
    const file = openGif(await readFile(new URL('animated.gif', FOLDER)));
    const all: Uint8Array[] = [];
    for await (const { rgb } of file.decode([...Array(file.total).keys()])) all.push(rgb.slice());
    const some = [0, 7, 13];
    let position = 0;
    for await (const { rgb } of file.decode(some)) expect(rgb).toEqual(all[some[position++]!]);
    expect(position).toBe(3);
  });
});

/** LZW as a plain encoder writes it, in blocks of at most 255 bytes. */
function encodeLzw(indexes: Uint8Array, minCodeSize: number): Buffer {
  const clear = 1 << minCodeSize;
  let codes = new Map<string, number>();
  let codeBits = minCodeSize + 1;
  let next = clear + 2;
  const bits: number[] = [];
  const emit = (code: number): void => {
    for (let bit = 0; bit < codeBits; bit++) bits.push((code >> bit) & 1);
  };
  const codeOf = (text: string): number => (text.length === 1 ? text.charCodeAt(0) : codes.get(text)!);
  emit(clear);
  let text = '';
  for (const index of indexes) {
    const longer = text + String.fromCharCode(index);
    if (longer.length === 1 || codes.has(longer)) {
      text = longer;
      continue;
    }
    emit(codeOf(text));
    if (next < 4096) {
      if (next === 1 << codeBits) codeBits++;
      codes.set(longer, next++);
    } else {
      emit(clear);
      codes = new Map();
      codeBits = minCodeSize + 1;
      next = clear + 2;
    }
    text = String.fromCharCode(index);
  }
  emit(codeOf(text));
  if (next === 1 << codeBits && codeBits < 12) codeBits++;
  emit(clear + 1);
  const data = Buffer.alloc(Math.ceil(bits.length / 8));
  bits.forEach((bit, position) => (data[position >> 3]! |= bit << (position & 7)));
  const blocks: Buffer[] = [];
  for (let at = 0; at < data.length; at += 255) {
    const block = data.subarray(at, at + 255);
    blocks.push(Buffer.from([block.length]), block);
  }
  return Buffer.concat([...blocks, Buffer.from([0])]);
}

describe('LZW', () => {
  const coded = fc.integer({ min: 2, max: 8 }).chain((minCodeSize) =>
    fc.record({
      minCodeSize: fc.constant(minCodeSize),
      indexes: fc.uint8Array({ minLength: 1, maxLength: 6000, max: 2 ** minCodeSize - 1, size: 'max' }),
    }),
  );

  it('decodes what was encoded, over the widest codes and past a full table', () => {
    fc.assert(
      fc.property(coded, ({ minCodeSize, indexes }) => {
        const decoded = new Uint8Array(indexes.length);
        expect(decodeLzw(encodeLzw(indexes, minCodeSize), 0, minCodeSize, decoded)).toBe(true);
        expect(Buffer.from(decoded).equals(indexes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('leaves alone what the data says that it leaves out, and says so when it breaks off', () => {
    fc.assert(
      fc.property(coded, fc.nat(), ({ minCodeSize, indexes }, more) => {
        const rest = 1 + (more % 100);
        const decoded = new Uint8Array(indexes.length + rest).fill(255);
        const encoded = encodeLzw(indexes, minCodeSize);
        expect(decodeLzw(encoded, 0, minCodeSize, decoded)).toBe(true);
        expect(Buffer.from(decoded.subarray(0, indexes.length)).equals(indexes)).toBe(true);
        expect(decoded.subarray(indexes.length)).toEqual(new Uint8Array(rest).fill(255));
        const cut = encoded.subarray(0, -2); // within the code that says so
        expect(decodeLzw(cut, 0, minCodeSize, decoded)).toBe(false);
      }),
      { numRuns: 30 },
    );
  });
});
