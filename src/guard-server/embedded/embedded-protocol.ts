import type { FailureKind } from '../../domain/failure.ts';
import type { GuardServerOptions } from '../server.ts';

/** What the embedded guard is to be. */
export type EmbeddedOptions = Pick<GuardServerOptions, 'model' | 'synthetic' | 'maxBatchSize'>;

/** Given to its thread when it starts. */
export type EmbeddedThreadData = EmbeddedOptions & { readonly token: string };

/** The one message the thread sends: where it listens, or why it does not. */
export type EmbeddedMessage =
  | { readonly address: string; readonly failure: null }
  | { readonly address: null; readonly failure: { readonly kind: FailureKind; readonly message: string } };
