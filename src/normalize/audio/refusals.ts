import { errorWithReason, itemError, type ItemError } from '../../domain/item-error.ts';

/** A clip is judged in 300 s windows up to this length: 288 of them. */
export const MAX_SECONDS = 24 * 60 * 60;

/** How to install ffmpeg and ffprobe. */
export const INSTALL_FFMPEG = 'Debian and Ubuntu: apt-get install ffmpeg; macOS: brew install ffmpeg';

/**
 * Errors of clips that could not be normalized. Errors caused by the machine are retryable; errors caused by the file
 * are not.
 */
export const REFUSALS = {
  empty: itemError('EMPTY_CONTENT', 'the file is empty'),
  noSound: itemError('EMPTY_CONTENT', 'the clip has no audio: zero samples'),
  notAudio: itemError('UNSUPPORTED_AUDIO_TYPE', 'the file is not in a supported audio format'),
  pictures: itemError('UNSUPPORTED_TYPE', 'the file is a video, which is not supported'),
  noTrack: itemError('UNSUPPORTED_AUDIO_TYPE', 'the file has no audio track'),
  manyTracks: itemError(
    'UNSUPPORTED_AUDIO_TYPE',
    'the file has several audio tracks: split it into one file each',
  ),
  corrupt: itemError('CORRUPT_MEDIA', 'the audio cannot be decoded'),
  crashing: itemError('CORRUPT_MEDIA', 'the audio crashes its decoder'),
  tooLong: itemError('MEDIA_TOO_LARGE', `the clip is longer than ${MAX_SECONDS / 3600} hours`),
  tooCostly: itemError('MEDIA_TOO_LARGE', 'decoding the audio takes too much processor time'),
  tooSlow: itemError('TIMEOUT', 'decoding the audio took too long'),
  decoderKilled: itemError('INTERNAL', 'ffmpeg was killed before the clip was decoded'),
  decoderNotStarted: itemError(
    'INTERNAL',
    'ffmpeg could not be started: the system is out of memory, processes or file handles',
  ),
  ffmpegMissing: errorWithReason(
    'ffmpeg_missing',
    `ffmpeg is not installed on the machine that processed the clip (${INSTALL_FFMPEG})`,
  ),
} as const satisfies Record<string, ItemError>;

/** Refusals after a decoder died, whether it crashed or was killed from outside. */
export const DEATHS: ReadonlySet<ItemError> = new Set([REFUSALS.crashing, REFUSALS.decoderKilled]);
