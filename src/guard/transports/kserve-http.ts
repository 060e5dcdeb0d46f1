import { openGuard } from '../kserve/open-guard.ts';
import { KserveHttpCalls } from '../kserve-http/kserve-http-calls.ts';
import { type BaseAddress, type GuardEndpoint, parseBaseAddress } from '../protocol/address.ts';
import { connectHttp, type Transport } from './transport.ts';

/** Max connections, each with one request at a time. Further requests wait for one. */
const MAX_CONNECTIONS = 128;

/** Triton or another server, over the KServe v2 protocol with HTTP, which has no streams. */
export const KSERVE_HTTP: Transport = {
  kind: 'triton',
  schemes: ['kserve+http', 'kserve+https'],
  tokenVariable: 'GUARD_TOKEN',
  unversioned: null,
  takes: (requestKind) => requestKind !== 'generation',
  hostOf: parse,
  connector: (endpoint) =>
    connectHttp(parse(endpoint), MAX_CONNECTIONS, (client, options) =>
      openGuard(new KserveHttpCalls(client), options),
    ),
};

function parse(endpoint: GuardEndpoint): BaseAddress {
  return parseBaseAddress(endpoint, 'kserve+http://host:8000');
}
