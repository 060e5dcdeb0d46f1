/**
 * Version of the normalization rules for images and audio. Part of the content hash: under other rules, the same file is
 * a different input to the guard.
 */
export const NORMALIZATION = 'normal-1';

/** Normalized audio: WAV with a header of 44 bytes; 16 kHz, mono, 16 bits per sample, little-endian. */
export const SAMPLE_RATE = 16_000;
export const BYTES_PER_SAMPLE = 2;
export const WAV_HEADER_BYTES = 44;
