import type { StreamEvent } from '../../http/streams/stream-state.ts';
import type { RequestError, RequestErrorCode } from '../contract/request-error.ts';

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
