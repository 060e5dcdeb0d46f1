import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../domain/failure.ts';
import type { EmbeddedMessage, EmbeddedOptions, EmbeddedThreadData } from './embedded-protocol.ts';

export interface EmbeddedGuard {
  /** `grpc://127.0.0.1:port`. */
  readonly address: string;
  /**
   * Required of every call. Random per guard and known to this process only: every user of the machine can connect to a
   * loopback port.
   */
  readonly token: string;
  /** Resolves with a Failure('internal') if the thread ends before `close`; otherwise never settles. */
  readonly failed: Promise<Error>;
  /** Stops the server and its thread, terminating it after 5 s. May be called again. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 5_000;
const TOKEN_BYTES = 32;

/**
 * Starts the embedded guard in its own thread and resolves once it listens on a free loopback port.
 * Rejects with the server's Failure, or a Failure('internal') if the thread ends first.
 */
export async function startEmbeddedGuard(options: EmbeddedOptions): Promise<EmbeddedGuard> {
  const entry = new URL(`./embedded-thread${extname(import.meta.url)}`, import.meta.url);
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  const workerData: EmbeddedThreadData = { ...options, token };
  const worker = new Worker(entry, { workerData, name: 'guard', stdout: true, stderr: true });
  // Discards what libraries print.
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
