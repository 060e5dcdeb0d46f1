/** Samples a second of the normal form. */
export const RATE = 16_000;

/** A WAV file in the normal form of clips (16 kHz, mono, 16 bits) with these samples. */
export function wavFile(samples: number, sampleAt: (at: number) => number): Buffer {
  const wav = Buffer.alloc(44 + samples * 2);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(36 + samples * 2, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE, 24);
  wav.writeUInt32LE(RATE * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(samples * 2, 40);
  for (let at = 0; at < samples; at++) wav.writeInt16LE(Math.round(sampleAt(at)), 44 + at * 2);
  return wav;
}
