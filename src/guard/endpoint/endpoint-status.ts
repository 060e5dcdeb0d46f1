import type { OutReason } from '../protocol/call-error.ts';
import type { RetryCause } from './events.ts';
import type { Sent } from './sent-meter.ts';

export type EndpointKind = 'triton' | 'rest' | 'openai' | 'websocket';

export type EndpointState =
  | { readonly name: 'ready' }
  | {
      readonly name: 'out';
      /** ISO 8601, UTC. */
      readonly since: string;
      readonly reason: OutReason;
      /** The reason, with details if known. */
      readonly detail: string;
      /** Whether only a changed setting can help. */
      readonly fatal: boolean;
    };

export interface EndpointStatus {
  readonly name: string;
  readonly kind: EndpointKind;
  readonly state: EndpointState;
  /** Items in requests that are in flight. */
  readonly inFlight: number;
  /** Items queued at this endpoint, or answered and waiting for a version reading. */
  readonly queued: number;
  /** Id of the last fingerprint read; null before the first, and for a guard that does not report its version. */
  readonly fingerprint: string | null;
  readonly modelVersion: string | null;
  /** Requests answered with verdicts, or with a refusal that names its reason. */
  readonly successes: number;
  /** Time of its last answer to a request or a check, by `performance.now()`; null while it is out of use. */
  readonly answeredAt: number | null;
  readonly sent: Sent;
  /** Requests sent again, by cause. */
  readonly retries: Readonly<Partial<Record<RetryCause, number>>>;
}
