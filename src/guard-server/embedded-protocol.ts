import { type GuardServerOptions } from './server.ts';

/** Given to the thread of the embedded guard when it starts. */
export type EmbeddedOptions = Pick<GuardServerOptions, 'model' | 'synthetic' | 'maxBatchSize'>;

/** The one message the thread sends: where it listens. */
export interface EmbeddedMessage {
  readonly address: string;
}
