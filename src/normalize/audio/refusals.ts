import { errorWithReason, itemError, type ItemError } from '../../domain/item-error.ts';

/** A clip is judged in 300 s windows up to this length: 288 of them. */
export const MAX_SECONDS = 24 * 60 * 60;

/** How ffmpeg and ffprobe get onto a machine. */
export const INSTALL_FFMPEG = 'Debian and Ubuntu: apt-get install ffmpeg; macOS: brew install ffmpeg';

/**
 * Outcomes of clips that could not be brought into normal form. Where this machine is to blame they are retryable;
 * where the file is, they are not.
 */
export const REFUSALS = {
  empty: itemError('EMPTY_CONTENT', 'the file is empty'),
  noSound: itemError('EMPTY_CONTENT', 'the clip has no sound in it: zero samples'),
  notAudio: itemError('UNSUPPORTED_AUDIO_TYPE', 'the file is in none of the audio formats that are judged'),
  pictures: itemError('UNSUPPORTED_TYPE', 'the file holds moving pictures, which are not judged'),
  noTrack: itemError('UNSUPPORTED_AUDIO_TYPE', 'the file has no audio track'),
  manyTracks: itemError(
    'UNSUPPORTED_AUDIO_TYPE',
    'the file has several audio tracks: split it into one file each',
  ),
  corrupt: itemError('CORRUPT_MEDIA', 'the sound cannot be decoded'),
  crashing: itemError('CORRUPT_MEDIA', 'the sound crashes its decoder'),
  tooLong: itemError('MEDIA_TOO_LARGE', `the clip is longer than ${MAX_SECONDS / 3600} hours`),
  tooCostly: itemError('MEDIA_TOO_LARGE', 'decoding the sound takes too much processor time'),
  tooSlow: itemError('TIMEOUT', 'decoding the sound took too long'),
  decoderKilled: itemError('INTERNAL', 'ffmpeg was ended by something outside before the clip was decoded'),
  decoderNotStarted: itemError(
    'INTERNAL',
    'ffmpeg could not be started: this machine has no room for a process',
  ),
  ffmpegMissing: errorWithReason(
    'ffmpeg_missing',
    `ffmpeg is not installed on the machine that judges (${INSTALL_FFMPEG})`,
  ),
} as const satisfies Record<string, ItemError>;

/** Refusals of clips whose decoder died over them: of the clip, or of something outside. */
export const DEATHS: ReadonlySet<ItemError> = new Set([REFUSALS.crashing, REFUSALS.decoderKilled]);
