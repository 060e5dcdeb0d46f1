import type { FailureKind } from '../../domain/failure.ts';
import type { GuardServerOptions } from '../server.ts';

/** Options of the embedded guard. */
export type EmbeddedOptions = Pick<GuardServerOptions, 'model' | 'allScores' | 'synthetic' | 'maxBatchSize'>;

/** `workerData` of its thread. */
export type EmbeddedThreadData = EmbeddedOptions & { readonly token: string };

/** The thread's only message: its address, or why it could not start. */
export type EmbeddedMessage =
  | { readonly address: string; readonly failure: null }
  | { readonly address: null; readonly failure: { readonly kind: FailureKind; readonly message: string } };
