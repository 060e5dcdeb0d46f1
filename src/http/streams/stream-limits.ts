import type { Cadence } from '../../guard/tensors/stream/stream-messages.ts';

/**
 * Limits of moderation streams, whatever their transport. A text is measured in UTF-16 code units; times are in
 * milliseconds. A stream over a limit ends with RESOURCE_EXHAUSTED unless noted otherwise.
 */
export interface StreamLimits {
  /** Max open streams. */
  readonly streams: number;
  /** Max open streams of one connection. */
  readonly streamsPerConnection: number;
  /** Max text of a stream that has not been judged. */
  readonly unjudgedText: number;
  /** Max text of all streams together that has not been judged. */
  readonly totalUnjudgedText: number;
  /** Max chunks of a stream that have not been judged. */
  readonly unjudgedChunks: number;
  /** Maximum wait of text for its verdict after it became due. */
  readonly lagMs: number;
  /** How long a client may send nothing before the end of its stream; then CANCELLED. */
  readonly idleMs: number;
  /** How long a stream waits for its client to leave after the final verdict; then it ends without an error. */
  readonly lingerMs: number;
  /** Used when the client sets none. */
  readonly cadence: Cadence;
  /** Bounds of the cadence that a client sets, both included; INVALID_ARGUMENT outside. */
  readonly cadenceChunks: Bounds;
  readonly cadenceMs: Bounds;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

export const STREAM_LIMITS: StreamLimits = {
  streams: 1024,
  streamsPerConnection: 512,
  unjudgedText: 2 * 1024 * 1024,
  totalUnjudgedText: 64 * 1024 * 1024,
  unjudgedChunks: 8192,
  lagMs: 60_000,
  idleMs: 5 * 60_000,
  lingerMs: 2_000,
  cadence: { unit: 'chunks', every: 4 },
  cadenceChunks: { min: 1, max: 1024 },
  cadenceMs: { min: 10, max: 10_000 },
};
