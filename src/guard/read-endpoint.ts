import { Failure } from '../domain/failure.ts';
import { type Fingerprint } from '../domain/fingerprint.ts';
import { type GuardEndpoint, parseAddress } from './address.ts';
import { GuardChannel } from './channel.ts';
import { negotiate, NotUsable, notUsable, readVersion } from './negotiate.ts';
import { MODEL_NAME } from './tensors/encode-request.ts';
import { loadService } from './tensors/protocol.ts';

/** Which model answers at an endpoint. */
export interface EndpointReading {
  readonly name: string;
  readonly model: string;
  readonly modelVersion: string;
  /** 0: the model does not batch. */
  readonly maxBatchSize: number;
  readonly instances: number;
  readonly fingerprint: Fingerprint;
}

export interface ReadEndpointOptions {
  /** For each question asked, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly token?: (endpoint: GuardEndpoint) => string | null;
}

/**
 * Asks an endpoint once what it is, without judging anything. Failure('service') says in one line what is wrong
 * with it; rejects with the signal's reason when aborted.
 */
export async function readEndpoint(
  endpoint: GuardEndpoint,
  { timeoutMs, signal, token }: ReadEndpointOptions,
): Promise<EndpointReading> {
  const channel = new GuardChannel(parseAddress(endpoint), loadService(), token?.(endpoint) ?? null);
  const options = { timeoutMs, signal };
  try {
    const { maxBatchSize, instances, batched } = await negotiate(channel, options);
    const { fingerprint, modelVersion } = await readVersion(channel, { batched }, options);
    return { name: endpoint.name, model: MODEL_NAME, modelVersion, maxBatchSize, instances, fingerprint };
  } catch (error) {
    const translated = notUsable(error, options);
    if (!(translated instanceof NotUsable)) throw translated;
    throw new Failure('service', `guard ${endpoint.name}: ${translated.message}`, { cause: translated });
  } finally {
    channel.close();
  }
}
