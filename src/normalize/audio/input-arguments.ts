import { CONTAINERS, type Container } from './container.ts';
import { DESCRIPTOR_PATH } from './ffmpeg-process.ts';

/** Largest single allocation of ffmpeg: a header can ask for any amount. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

/**
 * Arguments with which ffmpeg and ffprobe open descriptor 3. They name the recognised container, so that ffmpeg does not
 * probe: its guesses change between versions and include playlists, which would make it read other files. The whitelists
 * apply to whatever a container refers to.
 */
export function inputArguments(container: Container): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'error', '-max_alloc', String(MAX_BLOCK_BYTES)],
    ...['-protocol_whitelist', 'file', '-format_whitelist', CONTAINERS.join(',')],
    ...['-f', container, '-i', `file:${DESCRIPTOR_PATH}`],
  ];
}
