import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from '../../domain/failure.ts';
import type { EmbeddedMessage, EmbeddedThreadData } from './embedded-protocol.ts';
import { startGuardServer } from '../server.ts';

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
