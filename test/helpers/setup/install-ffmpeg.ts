import { debianProgram } from './debian-program.ts';

/** Once, before tests run side by side: two of them must not install it at the same time. */
export default function setup(): void {
  for (const name of ['ffmpeg', 'ffprobe']) {
    debianProgram([name], { versionFlag: '-version', package: 'ffmpeg' });
  }
}
