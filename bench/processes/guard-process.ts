import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Failure } from '../../src/domain/failure.ts';
import type { BenchContext } from '../harness/bench.ts';
import type { GuardAddresses } from './guard-addresses.ts';
import type { Execution, GuardSettings } from './guard-settings.ts';

const PROGRAM = createRequire(import.meta.url).resolve('#dist/bench/processes/guard-server.js');

/** A synthetic guard in its own process, whose time is not measured. */
export class GuardProcess {
  readonly addresses: GuardAddresses;
  readonly settings: GuardSettings;
  readonly #child: ChildProcess;

  private constructor(addresses: GuardAddresses, settings: GuardSettings, child: ChildProcess) {
    this.addresses = addresses;
    this.settings = settings;
    this.#child = child;
  }

  /** `grpc://127.0.0.1:port` */
  get address(): string {
    return this.addresses.grpc;
  }

  static async start(settings: GuardSettings, signal: AbortSignal): Promise<GuardProcess> {
    signal.throwIfAborted();
    const child = fork(PROGRAM, [JSON.stringify(settings)]);
    try {
      return new GuardProcess((await answer(child, signal)) as GuardAddresses, settings, child);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** Its executions since the last call. */
  async executions(signal: AbortSignal): Promise<readonly Execution[]> {
    const answered = answer(this.#child, signal);
    this.#child.send('executions');
    return (await answered) as Execution[];
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

async function answer(child: ChildProcess, signal: AbortSignal): Promise<unknown> {
  const answered = new AbortController();
  try {
    const either = { signal: AbortSignal.any([signal, answered.signal]) };
    return await Promise.race([
      once(child, 'message', either).then(([message]: unknown[]) => message),
      once(child, 'exit', either).then(() => {
        throw new Failure('internal', "the bench's guard ended unexpectedly");
      }),
    ]);
  } finally {
    answered.abort();
  }
}

/** Runs `use` with new guards, then stops them. */
export async function withGuards<T>(
  all: readonly GuardSettings[],
  { signal }: BenchContext,
  use: (guards: readonly GuardProcess[]) => Promise<T>,
): Promise<T> {
  const guards: GuardProcess[] = [];
  try {
    for (const settings of all) guards.push(await GuardProcess.start(settings, signal));
    return await use(guards);
  } finally {
    await Promise.all(guards.map((guard) => guard.stop()));
  }
}

/** Like `withGuards`, for a single guard. */
export function withGuard<T>(
  settings: GuardSettings,
  context: BenchContext,
  use: (guard: GuardProcess) => Promise<T>,
): Promise<T> {
  return withGuards([settings], context, ([guard]) => use(guard!));
}
