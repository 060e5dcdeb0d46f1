import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../domain/failure.ts';
import type { EmbeddedMessage, EmbeddedOptions, EmbeddedThreadData } from './embedded-protocol.ts';

export interface EmbeddedGuard {
  /** `grpc://127.0.0.1:port`. */
  readonly address: string;
  /**
   * Every call must carry it. Made anew for each guard and known to this process only, since every user of the machine
   * can connect to a loopback port.
   */
  readonly token: string;
  /** Resolves with a Failure('internal') if the thread ends before it is closed; else never settles. */
  readonly failed: Promise<Error>;
  /** Stops the server and its thread, by force after some seconds. May be called again. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 5_000;
const TOKEN_BYTES = 32;

/**
 * Starts the embedded guard in a thread of its own and resolves when it listens on a free loopback port.
 * A Failure when it cannot start, `internal` unless the server gave another.
 */
export async function startEmbeddedGuard(options: EmbeddedOptions): Promise<EmbeddedGuard> {
  const entry = new URL(`./embedded-thread${extname(import.meta.url)}`, import.meta.url);
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  const workerData: EmbeddedThreadData = { ...options, token };
  const worker = new Worker(entry, { workerData, name: 'guard', stdout: true, stderr: true });
  // What its libraries print is not ours to show.
  worker.stdout.resume();
  worker.stderr.resume();
  let closing = false;
  let threw: unknown;
  worker.on('error', (error) => (threw = error));
  const exited = new Promise<void>((resolve) => worker.on('exit', () => resolve()));
  const failed = new Promise<Error>((resolve) => {
    worker.on('exit', () => {
      if (closing) return;
      resolve(new Failure('internal', 'the embedded guard stopped unexpectedly', { cause: threw }));
    });
  });
  const listening = new Promise<EmbeddedMessage>((resolve) => worker.once('message', resolve));
  const first = await Promise.race([listening, failed]);
  if (first instanceof Error) throw first;
  if (first.failure !== null) {
    closing = true;
    throw new Failure(first.failure.kind, first.failure.message);
  }

  const close = async (): Promise<void> => {
    closing = true;
    worker.postMessage('close');
    const timer = setTimeout(() => void worker.terminate(), CLOSE_GRACE_MS);
    await exited;
    clearTimeout(timer);
  };
  let closed: Promise<void> | null = null;
  return { address: first.address, token, failed, close: () => (closed ??= close()) };
}
