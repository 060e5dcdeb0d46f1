import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { Failure } from '../../domain/failure.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { negotiate } from '../kserve/negotiate.ts';
import { readVersion } from '../kserve/version.ts';
import { type GuardEndpoint, isKserveHttp, isRest, isWebSocket, parseAddress } from '../protocol/address.ts';
import type { Credentials } from '../protocol/connection.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { parseBaseAddress } from '../http/base-address.ts';
import type { KserveCalls } from '../kserve/kserve-calls.ts';
import { KserveHttpCalls } from '../kserve-http/kserve-http-calls.ts';
import { kserveHttpClient } from '../kserve-http/kserve-http-connection.ts';
import { RestConnection } from '../rest/rest-connection.ts';
import { MODEL_NAME } from '../tensors/protocol.ts';
import { loadService } from '../tensors/service.ts';
import { GuardChannel } from '../triton/channel.ts';
import { grpcCalls } from '../triton/grpc-calls.ts';
import { parseSocketAddress } from '../websocket/socket-address.ts';
import { WebSocketConnection } from '../websocket/websocket-connection.ts';

/** What an endpoint reports about itself. */
export type EndpointReading =
  | {
      readonly name: string;
      readonly kind: 'triton';
      readonly model: string;
      readonly modelVersion: string;
      /** 0: the model does not batch. */
      readonly maxBatchSize: number;
      /** Null when the server does not declare them. */
      readonly instances: number | null;
      readonly fingerprint: Fingerprint;
    }
  | {
      readonly name: string;
      /** It judges, but REST and WebSockets have no way to ask for the version. */
      readonly kind: 'rest' | 'websocket';
      readonly fingerprint: null;
    };

interface ReadEndpointOptions {
  /** Per call, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly token?: (endpoint: GuardEndpoint) => string | null;
  /** For an endpoint reached over TLS; left out: what Node trusts, and no certificate. */
  readonly tls?: ClientTls;
}

/**
 * Asks an endpoint for its configuration and version; one over REST or a WebSocket judges a harmless text instead. Failure('service')
 * says in one line what is wrong. Rejects with the signal's reason when aborted.
 */
export async function readEndpoint(
  endpoint: GuardEndpoint,
  { timeoutMs, signal, token, tls = {} }: ReadEndpointOptions,
): Promise<EndpointReading> {
  const credentials = { token: token?.(endpoint) ?? null, tls };
  try {
    const unversioned = isRest(endpoint) || isWebSocket(endpoint);
    const read = unversioned ? tryToJudge : isKserveHttp(endpoint) ? readKserveHttp : readGrpc;
    return await read(endpoint, credentials, { timeoutMs, signal });
  } catch (error) {
    const translated = notUsable(error, { signal });
    if (!(translated instanceof NotUsable)) throw translated;
    throw new Failure('service', `guard ${endpoint.name}: ${translated.message}`, { cause: translated });
  }
}

type CallLimits = Pick<ReadEndpointOptions, 'timeoutMs' | 'signal'>;

/** For a guard that reports no version: it must judge a harmless text. */
async function tryToJudge(
  endpoint: GuardEndpoint,
  credentials: Credentials,
  { timeoutMs, signal }: CallLimits,
): Promise<EndpointReading> {
  const connection = isRest(endpoint)
    ? new RestConnection(parseBaseAddress(endpoint), credentials)
    : new WebSocketConnection(parseSocketAddress(endpoint), credentials);
  try {
    await connection.open({ requestTimeoutMs: timeoutMs, prove: false, signal });
    return { name: endpoint.name, kind: isRest(endpoint) ? 'rest' : 'websocket', fingerprint: null };
  } finally {
    connection.close();
  }
}

async function readGrpc(
  endpoint: GuardEndpoint,
  credentials: Credentials,
  options: CallLimits,
): Promise<EndpointReading> {
  const channel = new GuardChannel(parseAddress(endpoint), loadService(), credentials);
  try {
    return await readKserve(endpoint, grpcCalls(channel), options);
  } finally {
    channel.close();
  }
}

async function readKserveHttp(
  endpoint: GuardEndpoint,
  credentials: Credentials,
  options: CallLimits,
): Promise<EndpointReading> {
  const client = kserveHttpClient(parseBaseAddress(endpoint), credentials);
  try {
    return await readKserve(endpoint, new KserveHttpCalls(client), options);
  } finally {
    client.close();
  }
}

async function readKserve(
  { name }: GuardEndpoint,
  calls: KserveCalls,
  options: CallLimits,
): Promise<EndpointReading> {
  const model = await negotiate(calls, options);
  const { fingerprint, modelVersion } = await readVersion(calls, model, options);
  const { maxBatchSize, instances } = model;
  return { name, kind: 'triton', model: MODEL_NAME, modelVersion, maxBatchSize, instances, fingerprint };
}
