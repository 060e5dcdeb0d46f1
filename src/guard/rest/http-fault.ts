import type { IncomingHttpHeaders } from 'node:http';
import type { ItemCode } from '../../domain/item-error.ts';
import type { Modality } from '../../domain/request.ts';
import type { Fault } from '../protocol/call-error.ts';
import { statusFault } from '../http/status-fault.ts';
import { namedError } from '../protocol/named-errors.ts';

/** Statuses a guard uses for one request. Only with these can a body name one of the contract's failures. */
const REQUEST_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422, 500, 501]);

/** Meaning of 415 (Unsupported Media Type) by modality. */
const UNSUPPORTED: Readonly<Record<Modality, ItemCode>> = {
  text: 'GUARD_REJECTED',
  image: 'UNSUPPORTED_TYPE',
  audio: 'UNSUPPORTED_AUDIO_TYPE',
};

interface HttpFailure {
  /** Not 2xx. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Of the path that was called. */
  readonly modality: Modality;
}

/** Classifies an error reply. Its body is not used anywhere else. */
export function classifyHttp({ status, headers, body, modality }: HttpFailure): Fault {
  const named = REQUEST_STATUSES.has(status) ? namedError(body.trim()) : null;
  if (named !== null) return { kind: 'refused', code: named, named: true };
  if (status === 415) return { kind: 'refused', code: UNSUPPORTED[modality], named: false };
  return statusFault(status, headers);
}
