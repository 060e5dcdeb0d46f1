import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AudioWindow, WindowCutter } from '../../../src/normalize/audio/window-cutter.ts';
import { samples } from './clips.ts';

const WINDOW_BYTES = 300 * 16_000 * 2;

/** Bytes that differ wherever windows could have been put together wrongly. */
function signal(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let index = 0; index + 4 <= length; index += 4)
    bytes.writeUInt32LE((index * 2_654_435_761) >>> 0, index);
  return bytes;
}

function cut(cutter: WindowCutter, pcm: Buffer, pieces: readonly number[]): AudioWindow[] {
  const windows: AudioWindow[] = [];
  let from = 0;
  for (const length of [...pieces, pcm.length]) {
    windows.push(...cutter.take(pcm.subarray(from, Math.min(pcm.length, from + length))));
    from = Math.min(pcm.length, from + length);
  }
  const rest = cutter.rest();
  return rest === null ? windows : [...windows, rest];
}

const lengths = fc.oneof(
  fc.constantFrom(0, 1, 2, ...[-1, 0, 1, 2].map((more) => WINDOW_BYTES + more), 2 * WINDOW_BYTES),
  fc.constant(8_192_556), // whose seconds times 32,000 are not a whole number
  fc.integer({ min: 0, max: 3 * WINDOW_BYTES }),
);
const pieces = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: WINDOW_BYTES })), {
  maxLength: 8,
});

it('cuts any stream, in any pieces, into windows that put together are the stream (C-806)', () => {
  const whole = signal(3 * WINDOW_BYTES);
  fc.assert(
    fc.property(lengths, pieces, (length, sizes) => {
      const pcm = whole.subarray(0, length);
      const cutter = new WindowCutter(Infinity);
      const windows = cut(cutter, pcm, sizes);
      expect(samples(windows).equals(pcm.subarray(0, length - (length % 2)))).toBe(true);
      expect(windows.map(({ startSeconds }) => startSeconds)).toEqual(windows.map((_, index) => index * 300));
      expect(windows.slice(0, -1).every(({ seconds }) => seconds === 300)).toBe(true);
      expect(
        windows.every(({ seconds, wav }) => seconds > 0 && wav.length === 44 + Math.round(seconds * 32_000)),
      ).toBe(true);
      expect(cutter.totalSeconds).toBe(Math.floor(length / 2) / 16_000);
      expect(cutter.cutSeconds).toBe(cutter.totalSeconds);
    }),
    { numRuns: 30 },
  );
});

it('counts no more than there is when a clip is shorter than the one window', () => {
  const cutter = new WindowCutter(1);
  expect(cut(cutter, signal(32_001), [])).toMatchObject([{ startSeconds: 0, seconds: 1 }]);
  expect(cutter).toMatchObject({ cutSeconds: 1, totalSeconds: 1 });
});
