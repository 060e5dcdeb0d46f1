import type { Cadence } from '../../guard/tensors/stream/stream-messages.ts';

/**
 * Limits of moderation streams, whatever their transport. Text is measured in UTF-16 code units; times are in
 * milliseconds. A stream over a limit ends with RESOURCE_EXHAUSTED unless noted otherwise.
 */
export interface StreamLimits {
  /** Max open streams. */
  readonly streams: number;
  /** Max open streams of one connection. */
  readonly streamsPerConnection: number;
  /** Max unjudged text of a stream. */
  readonly unjudgedText: number;
  /** Max unjudged text of all streams together. */
  readonly totalUnjudgedText: number;
  /** Max unjudged chunks of a stream. */
  readonly unjudgedChunks: number;
  /** Max time that text may wait for its verdict after it became due. */
  readonly lagMs: number;
  /** How long a client may be idle before the end of its stream; it then ends with CANCELLED. */
  readonly idleMs: number;
  /** How long a stream waits for its client to leave after the final verdict; it then ends without an error. */
  readonly lingerMs: number;
  /** Used when the client sets none. */
  readonly cadence: Cadence;
  /** Inclusive bounds for a cadence set by the client; INVALID_ARGUMENT outside. */
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
