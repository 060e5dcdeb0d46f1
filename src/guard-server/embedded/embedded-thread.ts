import { parentPort, workerData } from 'node:worker_threads';
import { Failure, type FailureKind } from '../../domain/failure.ts';
import { type GuardServerOptions, startGuardServer } from '../server.ts';

/** Options of the embedded guard. */
export type EmbeddedOptions = Pick<GuardServerOptions, 'model' | 'allScores' | 'synthetic' | 'maxBatchSize'>;

/** `workerData` of its thread. */
export type EmbeddedThreadData = EmbeddedOptions & { readonly token: string };

/** The thread's only message: its address, or why it could not start. */
export type EmbeddedMessage =
  | { readonly address: string; readonly failure: null }
  | { readonly address: null; readonly failure: { readonly kind: FailureKind; readonly message: string } };

/** Entry point of the embedded guard's thread: serves on a free loopback port until the parent sends a message. */

const parent = parentPort!;
const tell = (message: EmbeddedMessage): void => parent.postMessage(message);

try {
  const server = await startGuardServer({ ...(workerData as EmbeddedThreadData), grpcPort: 0 });
  parent.once('message', () => void server.close());
  tell({ address: server.address, failure: null });
} catch (error) {
  // Errors lose their class in structured cloning, so a Failure is sent as plain data.
  if (!(error instanceof Failure)) throw error;
  tell({ address: null, failure: { kind: error.kind, message: error.message } });
}
