import { parentPort, workerData } from 'node:worker_threads';
import { type EmbeddedMessage, type EmbeddedOptions } from './embedded-protocol.ts';
import { startGuardServer } from './server.ts';

/** Entry point of the embedded guard's thread: serves on a free loopback port until the parent says to close. */

const parent = parentPort!;
const server = await startGuardServer({ ...(workerData as EmbeddedOptions), grpcPort: 0 });
parent.once('message', () => {
  void server.close();
});
parent.postMessage({ address: server.address } satisfies EmbeddedMessage);
