import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** What a video shows and plays. It is black and silent but for the named times, in seconds. */
export interface Film {
  readonly seconds: number;
  /** When it is white: from, until. */
  readonly white?: readonly [from: number, until: number];
  /** Whether it has a track of sound. */
  readonly sound?: boolean;
  readonly size?: string;
  /** More arguments for ffmpeg, such as of codecs. */
  readonly args?: readonly string[];
}

/** Makes a video of 10 frames per second with ffmpeg. */
export function makeFilm(folder: string, name: string, film: Film): string {
  const path = join(folder, name);
  const { seconds, white = [-1, -1], sound = false, size = '64x48', args = [] } = film;
  const box = `drawbox=enable='gte(t,${white[0]})*lt(t,${white[1]})':color=white:t=fill`;
  const inputs = [`color=black:s=${size}:r=10:d=${seconds},${box}`, ...(sound ? [`sine=d=${seconds}`] : [])];
  execFileSync('ffmpeg', [
    ...['-v', 'error', '-y', ...inputs.flatMap((input) => ['-f', 'lavfi', '-i', input])],
    ...['-pix_fmt', 'yuv420p', ...args, path],
  ]);
  return path;
}
