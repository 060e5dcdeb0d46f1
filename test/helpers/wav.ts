/** Samples a second of the normal form. */
export const RATE = 16_000;

export const WAV_HEADER_BYTES = 44;

interface WavFormat {
  readonly rate?: number;
  readonly channels?: number;
  /** Of a sample. */
  readonly bits?: number;
}

/** A WAV file of PCM samples, those of several channels interleaved; in the normal form of clips unless it says otherwise. */
export function pcmFile(pcm: Uint8Array, { rate = RATE, channels = 1, bits = 16 }: WavFormat = {}): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  const frameBytes = (channels * bits) / 8;
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + pcm.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(bits, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([header, pcm]);
}

/** A WAV file in the normal form of clips (16 kHz, mono, 16 bits) with these samples. */
export function wavFile(samples: number, sampleAt: (at: number) => number): Buffer {
  const pcm = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at++) pcm.writeInt16LE(Math.round(sampleAt(at)), at * 2);
  return pcmFile(pcm);
}
