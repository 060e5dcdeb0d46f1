import type { Cadence, StreamRequest } from '../../guard/tensors/stream/stream-messages.ts';
import type { StreamLimits } from './stream-limits.ts';

/** Settings from the first message of a stream. */
export interface StreamSettings {
  /** Id for correlation; may be empty. */
  readonly streamId: string;
  readonly prompt: string;
  /** The client's choice, or the server's default. */
  readonly cadence: Cadence;
}

/** Reads the settings in a first message; returns why they are invalid if they are. */
export function readSettings(
  { streamId, prompt, cadence }: StreamRequest,
  limits: StreamLimits,
): StreamSettings | string {
  if (prompt === null || !/\S/.test(prompt)) return 'the first message has no prompt';
  if (cadence !== null) {
    const { min, max } = cadence.unit === 'chunks' ? limits.cadenceChunks : limits.cadenceMs;
    if (cadence.every < min || cadence.every > max) {
      return `the cadence is not from ${min} to ${max} ${cadence.unit}`;
    }
  }
  return { streamId, prompt, cadence: cadence ?? limits.cadence };
}

/** The reason why a later message contradicts the settings; null if it omits or repeats them. */
export function contradiction(
  request: Pick<StreamRequest, 'streamId' | 'prompt' | 'cadence'>,
  settings: StreamSettings,
): string | null {
  const { streamId, prompt, cadence } = request;
  if (streamId !== '' && streamId !== settings.streamId)
    return 'the stream id differs from that of the first message';
  if (prompt !== null && prompt !== '' && prompt !== settings.prompt) {
    return 'the prompt differs from that of the first message';
  }
  if (
    cadence !== null &&
    (cadence.unit !== settings.cadence.unit || cadence.every !== settings.cadence.every)
  ) {
    return 'the cadence differs from that of the first message';
  }
  return null;
}
