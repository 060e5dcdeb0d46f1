import type { FailureKind } from '../domain/failure.ts';
import type { GuardServerOptions } from './server.ts';

/** Given to the thread of the embedded guard when it starts. */
export type EmbeddedOptions = Pick<GuardServerOptions, 'model' | 'synthetic' | 'maxBatchSize'>;

/** The one message the thread sends: where it listens, or why it does not. */
export type EmbeddedMessage =
  | { readonly address: string; readonly failure: null }
  | { readonly address: null; readonly failure: { readonly kind: FailureKind; readonly message: string } };
