/** What every clip is brought to: 16 kHz, one channel, 16 bits a sample, little-endian. */
export const SAMPLE_RATE = 16_000;
export const BYTES_PER_SAMPLE = 2;
export const WAV_HEADER_BYTES = 44;

/**
 * Writes the canonical 44-byte RIFF header of 16 kHz mono PCM into the start of `wav`, which already holds `dataBytes`
 * of samples behind it. Our own, because ffmpeg cannot know a size when it writes into a pipe, and names its version.
 */
export function writeWavHeader(wav: Buffer, dataBytes: number): void {
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16); // bytes of the format chunk
  wav.writeUInt16LE(1, 20); // PCM
  wav.writeUInt16LE(1, 22); // channels
  wav.writeUInt32LE(SAMPLE_RATE, 24);
  wav.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28); // bytes a second
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32); // bytes of one sample of all channels
  wav.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34); // bits a sample
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(dataBytes, 40);
}
