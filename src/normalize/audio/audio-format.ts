import type { FileHandle } from 'node:fs/promises';
import { findByMagicBytes, type Magic } from '../../domain/magic-bytes.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { readFully } from '../../files/read-fully.ts';
import type { InputFormat } from '../ffmpeg-process.ts';

/** Max length of a clip, which is judged in 300 s windows: 288 of them. */
export const MAX_SECONDS = 24 * 60 * 60;

/** Errors of audio clips that are not judged. */
export const CLIP_ERRORS = {
  empty: itemError('EMPTY_CONTENT', 'the file is empty'),
  noSound: itemError('EMPTY_CONTENT', 'the clip has no audio: zero samples'),
  notAudio: itemError('UNSUPPORTED_AUDIO_TYPE', 'the file is not in a supported audio format'),
  video: itemError('UNSUPPORTED_TYPE', 'the file is a video, which has no normal form as a clip'),
  noTrack: itemError('UNSUPPORTED_AUDIO_TYPE', 'the file has no audio track'),
  manyTracks: itemError(
    'UNSUPPORTED_AUDIO_TYPE',
    'the file has several audio tracks: split it into one file each',
  ),
  tooLong: itemError('MEDIA_TOO_LARGE', `the clip is longer than ${MAX_SECONDS / 3600} hours`),
} as const satisfies Record<string, ItemError>;

/**
 * Formats of streams without a file header, including those that may follow an ID3 tag. They cannot contain video or
 * refer to other files.
 */
const STREAM_FORMATS = ['mp3', 'aac', 'flac', 'ape', 'wv', 'mpc', 'mpc8'] as const;

/** ffmpeg's names of the supported formats. ffmpeg is never started on any other format. */
const FORMATS = [
  ...STREAM_FORMATS,
  ...(['wav', 'w64', 'aiff', 'au', 'caf', 'ogg', 'mov', 'matroska', 'asf', 'avi', 'amr', 'dsf'] as const),
] as const;

/** An audio file format; `stream` is one of the stream formats, which ffmpeg distinguishes. */
export type AudioFormat = (typeof FORMATS)[number] | 'stream';

const BY_MAGIC_BYTES: readonly (readonly [magic: Magic, format: AudioFormat])[] = [
  ['wave', 'wav'],
  ['wave64', 'w64'],
  ['aiff', 'aiff'],
  ['au', 'au'],
  ['caf', 'caf'],
  ['flac', 'flac'],
  ['oggVersion', 'ogg'],
  ['quickTime', 'mov'],
  ['matroska', 'matroska'],
  ['asf', 'asf'],
  ['avi', 'avi'],
  ['amr', 'amr'],
  ['monkeysAudio', 'ape'],
  ['wavPack', 'wv'],
  ['musepack7', 'mpc'],
  ['musepack8', 'mpc8'],
  ['dsf', 'dsf'],
];

/** First bytes of streams: a tag or a frame. */
const STREAM_MAGIC: readonly (readonly [magic: Magic, format: 'stream'])[] = [
  ['id3', 'stream'],
  ['mpegAudioFrame', 'stream'],
  ['aacFrame', 'stream'],
];

const HEAD_BYTES = 64 * 1024;

/**
 * Detects the audio format of a file by its first bytes; null for any format that is not listed, such as text, images
 * and playlists. Reads at positions.
 */
export async function recogniseAudio(file: FileHandle): Promise<AudioFormat | null> {
  const head = await readFully(file, Buffer.allocUnsafe(HEAD_BYTES), 0);
  const format = findByMagicBytes(head, BY_MAGIC_BYTES);
  if (format !== null) return format;
  const padding = head.findIndex((byte) => byte !== 0); // streams may have leading padding
  return findByMagicBytes(head.subarray(Math.max(0, padding)), STREAM_MAGIC);
}

/** Max single allocation of ffmpeg for audio. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

/**
 * How ffmpeg opens a clip. Formats with a file header are named, because ffmpeg's detection changes between versions. A
 * stream is detected by ffmpeg, which rejects anything that is not a stream format.
 */
export function audioInput(format: AudioFormat): InputFormat {
  const isStream = format === 'stream';
  return {
    format: isStream ? null : format,
    allowed: isStream ? STREAM_FORMATS : FORMATS,
    isPipe: false,
    maxBlockBytes: MAX_BLOCK_BYTES,
  };
}
