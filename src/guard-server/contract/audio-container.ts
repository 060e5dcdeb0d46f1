import { beginsWith, type Magic } from '../../domain/magic-bytes.ts';

const CONTAINERS: readonly Magic[] = ['id3', 'riffWave', 'flac', 'ogg', 'isoMedia'];

/**
 * Whether bytes begin like one of the audio containers of the contract: MP3 (with or without ID3), WAV, FLAC, Ogg,
 * MP4/M4A. The contract lists file extensions; a tensor carries no file name, so the magic bytes decide.
 */
export function isAudioContainer(bytes: Buffer): boolean {
  return CONTAINERS.some((magic) => beginsWith(bytes, magic)) || isMp3Frame(bytes);
}

/** The layer bits of a frame header that mean layer III. */
const LAYER_III = 1;

/** A frame header of MPEG audio, layer III, without a reserved bit rate or sample rate (ISO/IEC 11172-3, 2.4.2.3). */
function isMp3Frame(bytes: Buffer): boolean {
  if (bytes.length < 4 || !beginsWith(bytes, 'mpegAudioFrame')) return false;
  const layer = (bytes[1]! >> 1) & 3;
  const bitRate = bytes[2]! >> 4;
  const sampleRate = (bytes[2]! >> 2) & 3;
  return layer === LAYER_III && bitRate !== 15 && sampleRate !== 3;
}
