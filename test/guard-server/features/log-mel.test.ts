import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { FRAMES, logMel, MEL_BINS } from '../../../src/guard-server/features/log-mel.ts';

interface Table {
  readonly shape: readonly number[];
  /** Features of some frames, by the frame's index. */
  readonly frames: Readonly<Record<string, readonly number[]>>;
}

const never = new AbortController().signal;

/** The signal of test/fixtures/log-mel/make-table.py. */
function signal(): Float32Array {
  const samples = new Float32Array(2 * 16_000);
  let state = 12_345n;
  let phase = 0;
  for (let index = 0; index < samples.length; index++) {
    state = (state * 1_103_515_245n + 12_345n) % 2n ** 31n;
    phase = (phase + 200 + index) % 65_536;
    const triangle = Math.abs(phase - 32_768) - 16_384;
    const noise = Number((state / 2n ** 20n) % 2048n) - 1024;
    samples[index] = (Math.floor(triangle / 2) + noise) / 32_768;
  }
  return samples;
}

it('agrees with torchaudio to within 1e-4 (C-806, C-807)', async () => {
  const path = new URL('../../fixtures/log-mel/table.json', import.meta.url);
  const table = JSON.parse(await readFile(path, 'utf8')) as Table;
  const features = await logMel(signal(), never);
  expect([FRAMES, MEL_BINS]).toEqual(table.shape);
  expect(features).toHaveLength(FRAMES * MEL_BINS);
  for (const [frame, expected] of Object.entries(table.frames)) {
    const from = Number(frame) * MEL_BINS;
    const worst = expected.map((value, bin) => Math.abs(value - features[from + bin]!));
    expect(Math.max(...worst), `frame ${frame}`).toBeLessThan(1e-4);
  }
});

it('reads at most 300 s, and ends with the reason of an abort (C-806)', async () => {
  const tail = new Float32Array(300 * 16_000 + 16_000);
  tail.fill(0.5, 300 * 16_000);
  const silent = await logMel(tail, never);
  expect(new Set(silent)).toEqual(new Set([Math.fround((Math.log10(1e-10) + 4) / 4)]));
  const reason = new Error('over');
  await expect(logMel(tail, AbortSignal.abort(reason))).rejects.toBe(reason);
});
