/**
 * Whether bytes begin like one of the audio containers the guard takes: MP3 (with or without ID3), WAV, FLAC, Ogg,
 * MP4/M4A. The contract speaks of file extensions; tensors carry no name, so the bytes decide.
 */
export function isAudioContainer(bytes: Buffer): boolean {
  return (
    at(bytes, 0, 'ID3') ||
    (at(bytes, 0, 'RIFF') && at(bytes, 8, 'WAVE')) ||
    at(bytes, 0, 'fLaC') ||
    at(bytes, 0, 'OggS') ||
    at(bytes, 4, 'ftyp') ||
    isMp3Frame(bytes)
  );
}

/** How a frame header writes layer III. */
const LAYER_III = 1;

function at(bytes: Buffer, offset: number, magic: string): boolean {
  return bytes.toString('latin1', offset, offset + magic.length) === magic;
}

/** An MPEG audio frame header of layer III: eleven sync bits, and no reserved version, bit rate or sample rate. */
function isMp3Frame(bytes: Buffer): boolean {
  if (bytes.length < 4 || bytes[0] !== 0xff || (bytes[1]! & 0xe0) !== 0xe0) return false;
  const version = (bytes[1]! >> 3) & 3;
  const layer = (bytes[1]! >> 1) & 3;
  const bitRate = bytes[2]! >> 4;
  const sampleRate = (bytes[2]! >> 2) & 3;
  return version !== 1 && layer === LAYER_III && bitRate !== 15 && sampleRate !== 3;
}
