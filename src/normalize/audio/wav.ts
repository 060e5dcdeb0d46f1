import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES } from '../../domain/normalization.ts';

/**
 * Writes the canonical 44-byte RIFF header of 16 kHz mono PCM to the beginning of `wav`, which holds `dataBytes` of
 * samples after it. ffmpeg's own header would not do: it cannot know the size when it writes to a pipe, and it names its
 * version.
 */
export function writeWavHeader(wav: Buffer, dataBytes: number): void {
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16); // bytes of the format chunk
  wav.writeUInt16LE(1, 20); // PCM
  wav.writeUInt16LE(1, 22); // channels
  wav.writeUInt32LE(SAMPLE_RATE, 24);
  wav.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28); // bytes per second
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32); // bytes per frame (all channels)
  wav.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34); // bits per sample
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(dataBytes, 40);
}
