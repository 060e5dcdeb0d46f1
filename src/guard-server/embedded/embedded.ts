import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../domain/failure.ts';
import type { EmbeddedMessage, EmbeddedOptions, EmbeddedThreadData } from './embedded-thread.ts';

export interface EmbeddedGuard {
  /** `grpc://127.0.0.1:port`. */
  readonly address: string;
  /**
   * Required of every call. Random per guard and known only to this process: every user of the machine can connect to a
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

/** Threads that were started in advance, by their options. */
const ahead = new Map<string, GuardThread>();

/**
 * Starts the thread of an embedded guard in advance, so it loads while this thread loads other things:
 * `startEmbeddedGuard` with the same options takes it over. Returns a function that ends the thread if it was not taken
 * over.
 */
export function startEmbeddedThread(options: EmbeddedOptions): () => Promise<void> {
  const key = JSON.stringify(options);
  const thread = new GuardThread(options);
  ahead.set(key, thread);
  return async () => {
    if (ahead.get(key) !== thread) return;
    ahead.delete(key);
    thread.isClosing = true;
    await thread.worker.terminate();
  };
}

/** The thread of an embedded guard. */
class GuardThread {
  readonly token = randomBytes(TOKEN_BYTES).toString('hex');
  readonly worker: Worker;
  readonly exited: Promise<void>;
  readonly listening: Promise<EmbeddedMessage>;
  /** See {@link EmbeddedGuard.failed}. */
  readonly failed: Promise<Error>;
  isClosing = false;

  constructor(options: EmbeddedOptions) {
    const entry = createRequire(import.meta.url).resolve(
      '#dist/src/guard-server/embedded/embedded-thread.js',
    );
    const workerData: EmbeddedThreadData = { ...options, token: this.token };
    this.worker = new Worker(entry, { workerData, name: 'guard', stdout: true, stderr: true });
    // Discards output printed by libraries.
    this.worker.stdout.resume();
    this.worker.stderr.resume();
    let threw: unknown;
    this.worker.on('error', (error) => (threw = error));
    this.exited = new Promise((resolve) => this.worker.on('exit', () => resolve()));
    this.failed = new Promise((resolve) => {
      this.worker.on('exit', () => {
        if (this.isClosing) return;
        resolve(new Failure('internal', 'the embedded guard stopped unexpectedly', { cause: threw }));
      });
    });
    this.listening = new Promise((resolve) => this.worker.once('message', resolve));
  }
}

/**
 * Starts the embedded guard in its own thread and resolves once it listens on a free loopback port.
 * Rejects with the server's Failure, or a Failure('internal') if the thread ends first.
 */
export async function startEmbeddedGuard(options: EmbeddedOptions): Promise<EmbeddedGuard> {
  const key = JSON.stringify(options);
  const thread = ahead.get(key) ?? new GuardThread(options);
  ahead.delete(key);
  const { worker, token, failed } = thread;
  const first = await Promise.race([thread.listening, failed]);
  if (first instanceof Error) throw first;
  if (first.failure !== null) {
    thread.isClosing = true;
    throw new Failure(first.failure.kind, first.failure.message);
  }

  const close = async (): Promise<void> => {
    thread.isClosing = true;
    worker.postMessage('close');
    const timer = setTimeout(() => void worker.terminate(), CLOSE_GRACE_MS);
    await thread.exited;
    clearTimeout(timer);
  };
  let closed: Promise<void> | null = null;
  return { address: first.address, token, failed, close: () => (closed ??= close()) };
}
