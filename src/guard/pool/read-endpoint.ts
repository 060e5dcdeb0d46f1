import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { Failure } from '../../domain/failure.ts';
import { isDeclared, type Fingerprint } from '../../domain/fingerprint.ts';
import type { EndpointKind } from '../endpoint/endpoint-status.ts';
import type { GuardPolicy } from '../../domain/guard/guard-family.ts';
import type { GuardEndpoint } from '../protocol/address.ts';
import { NotUsable, notUsable } from '../protocol/not-usable.ts';
import { MODEL_NAME } from '../tensors/protocol.ts';
import { transportOf } from '../transports/transports.ts';

/** Configuration and version of an endpoint. */
export type EndpointReading =
  | {
      readonly name: string;
      readonly kind: EndpointKind;
      readonly model: string;
      readonly modelVersion: string;
      /** 0 if the model does not batch. */
      readonly maxBatchSize: number;
      /** Null when the server does not declare them. */
      readonly instances: number | null;
      readonly fingerprint: Fingerprint;
    }
  | {
      readonly name: string;
      /** An endpoint whose protocol has no version request. */
      readonly kind: EndpointKind;
      readonly fingerprint: null;
    };

interface ReadEndpointOptions {
  /** Timeout per call, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly token?: (endpoint: GuardEndpoint) => string | null;
  /** Used for an endpoint reached over TLS. Default: what Node trusts, and no certificate. */
  readonly tls?: ClientTls;
  /** See `PoolOptions`. */
  readonly guardPolicy?: GuardPolicy | null;
}

/**
 * Reads an endpoint's configuration and version; one that reports no version judges a harmless text instead.
 * Failure('service') describes the problem in one line. Rejects with the signal's reason when aborted.
 */
export async function readEndpoint(
  endpoint: GuardEndpoint,
  { timeoutMs, signal, token, tls = {}, guardPolicy = null }: ReadEndpointOptions,
): Promise<EndpointReading> {
  const { name } = endpoint;
  const { kind, connector } = transportOf(endpoint);
  const connection = connector(endpoint)({ token: token?.(endpoint) ?? null, tls, guardPolicy });
  try {
    const guard = await connection.open({ requestTimeoutMs: timeoutMs, prove: false, signal });
    if (guard.version === null) return { name, kind, fingerprint: null };
    const { fingerprint, modelVersion } = guard.version.first;
    const { maxBatchSize, instances } = guard;
    const model = isDeclared(fingerprint.id) ? fingerprint.artifacts.model! : MODEL_NAME;
    return { name, kind, model, modelVersion, maxBatchSize, instances, fingerprint };
  } catch (error) {
    const translated = notUsable(error, { signal });
    if (!(translated instanceof NotUsable)) throw translated;
    throw new Failure('service', `guard ${name}: ${translated.message}`, { cause: translated });
  } finally {
    connection.close();
  }
}
