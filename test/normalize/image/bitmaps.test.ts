import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { binaryKind } from '../../../src/ingest/recognise/binary-kind.ts';
import { normalPixels } from '../../../src/normalize/image/normalize-image.ts';

const FOLDER = new URL('../../fixtures/images/', import.meta.url);
const read = (name: string): Buffer => readFileSync(new URL(name, FOLDER));
const names = readdirSync(FOLDER).filter((name) => /\.(?:bmp|ico)$/.test(name));
const decoded = names.filter((name) => readdirSync(FOLDER).includes(`${name}.json`));

it('are found to be images that are judged, whatever their name', () => {
  expect(decoded.length).toBeGreaterThan(45);
  for (const name of decoded) {
    expect(binaryKind(read(name), 'upload', null), name).toMatchObject({ modality: 'image', isJudged: true });
  }
  const text = Buffer.from('BM is a company. Its name stands for something, as names do.');
  expect(binaryKind(text, 'note.txt', null)).toBeNull();
});

it('end as pixels or as a refusal, however they are damaged', async () => {
  const damage = fc.record({
    name: fc.constantFrom(...names),
    changes: fc.array(fc.record({ at: fc.nat(200), byte: fc.integer({ min: 0, max: 255 }) }), {
      maxLength: 6,
    }),
    cut: fc.option(fc.nat(2_000)),
  });
  await fc.assert(
    fc.asyncProperty(damage, async ({ name, changes, cut }) => {
      const bytes = Buffer.from(read(name));
      for (const { at, byte } of changes) if (at < bytes.length) bytes[at] = byte;
      const end = await normalPixels(bytes.subarray(0, cut ?? bytes.length), async () => {});
      if ('code' in end) {
        expect(end.code).toMatch(/^(?:CORRUPT_MEDIA|UNSUPPORTED_TYPE|MEDIA_TOO_LARGE|EMPTY_CONTENT)$/);
      } else {
        expect(end.rgb.length).toBe(end.width * end.height * 3);
      }
    }),
    { numRuns: 300 },
  );
});
