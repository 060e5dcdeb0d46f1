import { CONTAINERS, type Container } from './container.ts';
import { DESCRIPTOR_PATH } from './ffmpeg-process.ts';

/** The most memory ffmpeg may take in one piece: a header can ask for any amount. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

/**
 * How ffmpeg and ffprobe open descriptor 3. The container is the one that we recognised, so that ffmpeg guesses
 * nothing: its guesses change between versions, and playlists are among them, which would have it read other files.
 * The lists hold for whatever a container might refer to.
 */
export function inputArguments(container: Container): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'error', '-max_alloc', String(MAX_BLOCK_BYTES)],
    ...['-protocol_whitelist', 'file', '-format_whitelist', CONTAINERS.join(',')],
    ...['-f', container, '-i', `file:${DESCRIPTOR_PATH}`],
  ];
}
