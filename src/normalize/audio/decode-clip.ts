import type { ItemError } from '../../domain/item-error.ts';
import { SAMPLE_RATE } from '../../domain/normalization.ts';
import type { Container } from './container.ts';
import { inputArguments, type Running, withFfmpeg } from './ffmpeg-process.ts';
import { MAX_SECONDS, REFUSALS } from './refusals.ts';
import type { AudioWindow, WindowCutter } from './window-cutter.ts';

/**
 * The first audio track as 16-bit samples. The downmix must be done in 16 bits: in floating point ffmpeg does not scale
 * the sum, and stereo becomes 3 dB louder.
 */
const OUTPUT_ARGUMENTS = [
  ...['-map', '0:a:0', '-vn', '-sn', '-dn'],
  ...['-ac', '1', '-ar', String(SAMPLE_RATE), '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'],
];

/**
 * Decodes a clip into `cutter` and passes each full window to `each`; the cutter keeps the rest. ffmpeg waits while
 * `each` runs. Returns null if the clip was decoded to its end, else why not. Throws what `each` throws and the reason of
 * an abort. No process is left running in any case.
 */
export function decodeClip(
  container: Container,
  cutter: WindowCutter,
  each: (window: AudioWindow) => Promise<void>,
  running: Running,
): Promise<ItemError | null> {
  const args = [...['-nostdin', '-threads', '1'], ...inputArguments(container), ...OUTPUT_ARGUMENTS];
  return withFfmpeg(running, 'ffmpeg', args, async ({ output, wait, end }) => {
    for (;;) {
      const next = await wait(output.next(), cutter.totalSeconds);
      if (next.done) break;
      for (const window of cutter.take(next.value)) await each(window);
      if (cutter.totalSeconds > MAX_SECONDS) return REFUSALS.tooLong;
    }
    const { refusal, complained } = await end(cutter.totalSeconds);
    if (refusal !== null || cutter.totalSeconds > 0) return refusal;
    // exit status 0 and nothing decoded: an empty clip, unless ffmpeg reported a problem
    return complained ? REFUSALS.corrupt : REFUSALS.noSound;
  });
}
