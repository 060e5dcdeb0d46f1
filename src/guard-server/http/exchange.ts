import type { IncomingHttpHeaders } from 'node:http';
import type { GuardService } from '../service/guard-service.ts';

/** A request as a route sees it. */
export interface Exchange {
  readonly service: GuardService;
  readonly headers: IncomingHttpHeaders;
  /** The variable segments of the path, such as `model`; '' for one that the route does not have. */
  readonly path: (name: string) => string;
  /** Reads the body, within the limits of the server. */
  readonly body: () => Promise<Buffer>;
  /** Calls `withdraw` when the client has gone or the response is sent. */
  readonly onClose: (withdraw: () => void) => void;
}
