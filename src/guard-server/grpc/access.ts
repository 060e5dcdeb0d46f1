import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { bearsToken } from '../../http/bearer-token.ts';

/** Rejects calls that do not carry `authorization: Bearer <token>`; with null, every call is admitted. */
export function checkAccess(token: string | null): ServerInterceptor {
  return (_method, call) => {
    ignoreDistantDeadline(call);
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            if (token === null || carriesToken(metadata, token)) proceed(metadata);
            else call.sendStatus(UNAUTHENTICATED);
          },
        }),
    });
  };
}

const UNAUTHENTICATED = {
  code: status.UNAUTHENTICATED,
  details: 'this server needs a bearer token',
  metadata: null,
};

function carriesToken(metadata: Metadata, token: string): boolean {
  const [authorization] = metadata.get('authorization');
  return bearsToken(typeof authorization === 'string' ? authorization : undefined, token);
}

/** Less than the error of any distant deadline, and more than the age of a call that has just begun. */
const TOLERANCE_MS = 1000;

/**
 * Keeps a call whose deadline is more than 2^31 ms away, which clients send to wait as long as it takes. TRAP: grpc-js
 * keeps 32 bits of the remaining time. A negative value would end the call at once with DEADLINE_EXCEEDED.
 */
function ignoreDistantDeadline(call: ServerInterceptingCallInterface): void {
  if (Number(call.getDeadline()) > Date.now() - TOLERANCE_MS) return;
  const send = call.sendStatus.bind(call);
  call.sendStatus = (ended) => {
    call.sendStatus = send;
    if (ended.code !== status.DEADLINE_EXCEEDED) send(ended);
  };
}
