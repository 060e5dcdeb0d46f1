import type { Judging } from '../../config/run-config.ts';
import { NORMALIZATION } from '../../domain/normalization.ts';

/** Canonical text of everything but content and model that a verdict depends on. */
export function judgingText({ frames, longAudio, longText }: Judging): string {
  return JSON.stringify({ frames, longAudio, longText, normalization: NORMALIZATION });
}
