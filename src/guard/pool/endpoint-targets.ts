import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { Failure } from '../../domain/failure.ts';
import {
  expandEndpoint,
  type GuardEndpoint,
  isKserveHttp,
  isRest,
  isWebSocket,
  type LookupOptions,
} from '../protocol/address.ts';
import type { Credentials } from '../protocol/connection.ts';
import type { EndpointTarget } from '../endpoint/endpoint.ts';
import { parseBaseAddress } from '../http/base-address.ts';
import { KserveHttpConnection } from '../kserve-http/kserve-http-connection.ts';
import { RestConnection, takenOverRest } from '../rest/rest-connection.ts';
import { loadService } from '../tensors/service.ts';
import { parseSocketAddress } from '../websocket/socket-address.ts';
import { takenOverWebSocket, WebSocketConnection } from '../websocket/websocket-connection.ts';
import { TritonConnection } from '../triton/triton-connection.ts';

interface TargetOptions {
  /** Fingerprint id that every guard must have; null: any. */
  readonly expectFingerprint: string | null;
  readonly token: (endpoint: GuardEndpoint) => string | null;
  readonly tls: ClientTls;
  readonly lookup: LookupOptions;
}

/**
 * The servers behind the endpoints. A gRPC endpoint has one per address of its name. Any other has always one, since its
 * name may be that of a load balancer with any number of addresses. Failure('usage') when an address is malformed, or when
 * a fingerprint is expected of a guard over REST or a WebSocket, which reports none.
 */
export async function endpointTargets(
  endpoints: readonly GuardEndpoint[],
  { expectFingerprint, token, tls, lookup }: TargetOptions,
): Promise<EndpointTarget[]> {
  const unversioned = endpoints.find((endpoint) => isRest(endpoint) || isWebSocket(endpoint));
  if (expectFingerprint !== null && unversioned !== undefined) {
    const transport = isRest(unversioned) ? 'REST' : 'a WebSocket';
    throw new Failure(
      'usage',
      `guard ${unversioned.name}: over ${transport} a guard reports no fingerprint, so none can be expected; name its gRPC address`,
    );
  }
  const service = loadService();
  // Tokens first: an invalid one is reported before any lookup.
  const withTokens = endpoints.map((endpoint) => ({
    endpoint,
    credentials: { token: token(endpoint), tls },
  }));
  const targets = withTokens.map(async ({ endpoint, credentials }): Promise<EndpointTarget[]> => {
    if (isRest(endpoint)) return [restTarget(endpoint, credentials)];
    if (isWebSocket(endpoint)) return [webSocketTarget(endpoint, credentials)];
    if (isKserveHttp(endpoint)) return [kserveHttpTarget(endpoint, credentials)];
    const expanded = await expandEndpoint(endpoint, lookup);
    return expanded.map(({ name, address }) => ({
      name,
      kind: 'triton',
      takes: () => true,
      connect: () => new TritonConnection(address, service, credentials),
    }));
  });
  return (await Promise.all(targets)).flat();
}

function restTarget(endpoint: GuardEndpoint, credentials: Credentials): EndpointTarget {
  const base = parseBaseAddress(endpoint);
  return {
    name: endpoint.name,
    kind: 'rest',
    takes: takenOverRest,
    connect: () => new RestConnection(base, credentials),
  };
}

function webSocketTarget(endpoint: GuardEndpoint, credentials: Credentials): EndpointTarget {
  const address = parseSocketAddress(endpoint);
  return {
    name: endpoint.name,
    kind: 'websocket',
    takes: takenOverWebSocket,
    connect: () => new WebSocketConnection(address, credentials),
  };
}

function kserveHttpTarget(endpoint: GuardEndpoint, credentials: Credentials): EndpointTarget {
  const base = parseBaseAddress(endpoint);
  return {
    name: endpoint.name,
    kind: 'triton',
    takes: (signature) => signature !== 'generation',
    connect: () => new KserveHttpConnection(base, credentials),
  };
}
