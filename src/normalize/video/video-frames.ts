import type { ItemError } from '../../domain/item-error.ts';
import { type AudioFormat, audioInput } from '../audio/audio-format.ts';
import { DECODING_ERRORS, inputArguments, type Running, withFfmpeg } from '../ffmpeg-process.ts';

/** An open video. */
export interface Video {
  readonly format: AudioFormat;
  readonly running: Running;
  /** Max pixels of a picture to decode. */
  readonly maxPixels: number;
}

/** Display times in seconds from the beginning of the file. */
export interface PictureTimes {
  /** Start of the first and of the last picture. */
  readonly first: number;
  readonly last: number;
  /** End of the last picture. */
  readonly end: number;
}

/**
 * Reads the display times of a video's pictures from all of its packets: a header may claim any length. Decodes
 * nothing. `end` is below `first` if there are no pictures.
 */
export function readPictureTimes(
  { format, running }: Video,
  startSeconds: number,
): Promise<PictureTimes | ItemError> {
  const args = [
    ...inputArguments(audioInput(format)),
    ...['-select_streams', 'V:0', '-show_entries', 'packet=pts_time,dts_time,duration_time'],
    ...['-of', 'csv=p=0'],
  ];
  return withFfmpeg(running, 'ffprobe', args, async ({ output, wait, end }) => {
    let times = { first: Infinity, last: -Infinity, end: -Infinity };
    let rest = '';
    for (;;) {
      const next = await wait(output.next(), 0);
      if (next.done) break;
      const lines = (rest + next.value.toString('latin1')).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const [pts, dts, duration] = line.split(',').map(Number);
        // AVI has decoding times, but no display times.
        const at = Math.max(0, (Number.isFinite(pts) ? pts! : dts!) - startSeconds);
        if (!Number.isFinite(at)) continue;
        const until = at + (Number.isFinite(duration) ? duration! : 0);
        times = {
          first: Math.min(times.first, at),
          last: Math.max(times.last, at),
          end: Math.max(times.end, until),
        };
      }
    }
    const { refusal } = await end(0);
    // The readable part of a damaged file is judged.
    return refusal === null || refusal === DECODING_ERRORS.corrupt ? times : refusal;
  });
}

/** Longest edge in normalized format. ffmpeg scales larger pictures down, which keeps frames small in this process. */
const EDGE = 512;
const SCALE = `scale=w='min(iw,${EDGE})':h='min(ih,${EDGE})':force_original_aspect_ratio=decrease:flags=bicubic`;

/** Larger than any PNG of that size. */
const MAX_PNG_BYTES = 8 * 1024 * 1024;

/** How far before a picture the seek starts, in seconds: times are rounded. */
const EARLIER = 0.001;

/** Extracts the first picture from a time on, as PNG; null if none can be decoded. */
export function extractFrame(
  { format, running, maxPixels }: Video,
  atSeconds: number,
): Promise<Buffer | ItemError | null> {
  const args = [
    ...['-nostdin', '-threads', '1', '-max_pixels', String(maxPixels)],
    ...['-ss', Math.max(0, atSeconds - EARLIER).toFixed(3)],
    ...inputArguments(audioInput(format)),
    ...['-map', '0:V:0', '-frames:v', '1', '-vf', SCALE, '-pix_fmt', 'rgb24'],
    ...['-c:v', 'png', '-f', 'image2pipe', 'pipe:1'],
  ];
  return withFfmpeg(running, 'ffmpeg', args, async ({ output, wait, end }) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      const next = await wait(output.next(), 0);
      if (next.done) break;
      chunks.push(next.value);
      bytes += next.value.length;
      if (bytes > MAX_PNG_BYTES) return DECODING_ERRORS.corrupt;
    }
    const { refusal } = await end(0);
    if (refusal !== null && refusal !== DECODING_ERRORS.corrupt) return refusal;
    return bytes === 0 ? null : Buffer.concat(chunks, bytes);
  });
}
