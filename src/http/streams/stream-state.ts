import type { StatusName } from '../../guard/tensors/stream/stream-status.ts';

/**
 * The states of a moderation stream (contract: "States and transitions"), on the server:
 *
 *               chunk
 *              ┌─────┐      end after content
 *   (opened) ─►│ open│────────────────────────►  final  ─── final verdict sent, client left ───┐
 *              └──┬──┘                            │                                             ▼
 *                 └── every other event ──────────┴────── every other event, with its status ─► terminated
 */
export type StreamState = 'open' | 'final' | 'terminated';

export type StreamEvent =
  /** A valid message with text. */
  | 'chunk'
  /** A valid message that ends the stream, after or with text. */
  | 'end after content'
  /** A message that ends the stream without any text. */
  | 'end before content'
  /** An invalid message: malformed, a seq that is not higher than the last, an empty chunk, an invalid setting. */
  | 'invalid message'
  /** The model rejected the text because of the text itself. */
  | 'content refused'
  /** The client disconnected, cancelled, or ended the stream early. */
  | 'client left'
  /** A limit on streams, buffered text or lag. */
  | 'limit exceeded'
  /** The model is not ready, or the server is shutting down or sheds load. */
  | 'not available'
  /** No model behind this server judges streams. */
  | 'not supported'
  /** The model threw, or its answer is not a verdict. */
  | 'failure'
  /** The final verdict was sent, and the client left or stayed too long. */
  | 'completed';

export interface Transition {
  readonly from: Exclude<StreamState, 'terminated'>;
  readonly event: StreamEvent;
  readonly to: StreamState;
  /** Status of a stream terminated by this event; OK if it is complete. */
  readonly status: StatusName | null;
}

/** Every transition. An event without a row changes nothing: a terminated stream ignores all of them. */
export const TRANSITIONS: readonly Transition[] = [
  { from: 'open', event: 'chunk', to: 'open', status: null },
  { from: 'open', event: 'end after content', to: 'final', status: null },
  { from: 'open', event: 'end before content', to: 'terminated', status: 'FAILED_PRECONDITION' },
  { from: 'open', event: 'invalid message', to: 'terminated', status: 'INVALID_ARGUMENT' },
  { from: 'open', event: 'content refused', to: 'terminated', status: 'INVALID_ARGUMENT' },
  { from: 'open', event: 'client left', to: 'terminated', status: 'CANCELLED' },
  { from: 'open', event: 'limit exceeded', to: 'terminated', status: 'RESOURCE_EXHAUSTED' },
  { from: 'open', event: 'not available', to: 'terminated', status: 'UNAVAILABLE' },
  { from: 'open', event: 'not supported', to: 'terminated', status: 'UNIMPLEMENTED' },
  { from: 'open', event: 'failure', to: 'terminated', status: 'INTERNAL' },
  { from: 'final', event: 'chunk', to: 'terminated', status: 'FAILED_PRECONDITION' },
  { from: 'final', event: 'end after content', to: 'terminated', status: 'FAILED_PRECONDITION' },
  { from: 'final', event: 'end before content', to: 'terminated', status: 'FAILED_PRECONDITION' },
  { from: 'final', event: 'invalid message', to: 'terminated', status: 'FAILED_PRECONDITION' },
  { from: 'final', event: 'content refused', to: 'terminated', status: 'INVALID_ARGUMENT' },
  { from: 'final', event: 'client left', to: 'terminated', status: 'CANCELLED' },
  { from: 'final', event: 'limit exceeded', to: 'terminated', status: 'RESOURCE_EXHAUSTED' },
  { from: 'final', event: 'not available', to: 'terminated', status: 'UNAVAILABLE' },
  { from: 'final', event: 'not supported', to: 'terminated', status: 'UNIMPLEMENTED' },
  { from: 'final', event: 'failure', to: 'terminated', status: 'INTERNAL' },
  { from: 'final', event: 'completed', to: 'terminated', status: 'OK' },
];

const BY_STATE_AND_EVENT = new Map(TRANSITIONS.map((row) => [`${row.from}: ${row.event}`, row]));

/** The transition of an event in a state; null if the event changes nothing. */
export function transitionOf(state: StreamState, event: StreamEvent): Transition | null {
  return BY_STATE_AND_EVENT.get(`${state}: ${event}`) ?? null;
}
