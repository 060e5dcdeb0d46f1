import type { RequestError, RequestErrorCode } from '../contract/request-error.ts';
import type { StatusName } from '../../guard/tensors/stream/stream-status.ts';
import type { StreamEvent } from './stream-state.ts';

/** Why a stream ended. The text never quotes content. */
export interface StreamError {
  readonly status: StatusName;
  readonly text: string;
}

/** What an error of the model's service means to a stream; for other codes, the text itself was refused. */
const EVENTS: Partial<Readonly<Record<RequestErrorCode, StreamEvent>>> = {
  // The model was unloaded under the stream.
  MODEL_NOT_FOUND: 'not available',
  UNAVAILABLE: 'not available',
  EXECUTION_FAILED: 'failure',
};

export function eventOf({ code }: RequestError): StreamEvent {
  return EVENTS[code] ?? 'content refused';
}
