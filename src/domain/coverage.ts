import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES } from './normalization.ts';
import type { GuardRequest } from './request.ts';

export const COVERAGE_UNITS = ['chars', 'turns', 'frames', 'seconds'] as const;

/** How much of an item the guard judged, in the unit of its modality. */
export interface Coverage {
  readonly unit: (typeof COVERAGE_UNITS)[number];
  readonly judged: number;
  readonly total: number;
  /** Start of the part that decided; null if the item was judged as a whole. */
  readonly worst_at: number | null;
}

/**
 * Coverage of a request that is judged as a whole, in Unicode code points for text, turns for a conversation, one frame
 * for an image, and seconds for audio.
 */
export function wholeCoverage(request: GuardRequest): Coverage {
  if (request.requestType === 'multiturn') return fullCoverage('turns', request.turns);
  if (request.requestType === 'response') return fullCoverage('chars', codePoints(request.response));
  if (request.requestType === 'generation') return chunkCoverage(request.chunks, request.chunks.length);
  switch (request.modality) {
    case 'text':
      return fullCoverage('chars', codePoints(request.text));
    case 'image':
      return fullCoverage('frames', 1);
    case 'audio':
      return fullCoverage(
        'seconds',
        (request.audio.length - WAV_HEADER_BYTES) / (SAMPLE_RATE * BYTES_PER_SAMPLE),
      );
  }
}

/** Coverage of a generation after its first `judged` chunks were judged, in code points of the response. */
export function chunkCoverage(chunks: readonly string[], judged: number): Coverage {
  const points = (some: readonly string[]): number => codePoints(some.join(''));
  return { unit: 'chars', judged: points(chunks.slice(0, judged)), total: points(chunks), worst_at: null };
}

function fullCoverage(unit: Coverage['unit'], total: number): Coverage {
  return { unit, judged: total, total, worst_at: null };
}

const SURROGATE = /[\ud800-\udfff]/;

/** Length of a string in Unicode code points; an unpaired surrogate counts as one. */
export function codePoints(text: string): number {
  // Fast path: most text has no surrogates, and the regular expression is faster than the loop.
  if (!SURROGATE.test(text)) return text.length;
  let surrogatePairs = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        surrogatePairs++;
        index++;
      }
    }
  }
  return text.length - surrogatePairs;
}
