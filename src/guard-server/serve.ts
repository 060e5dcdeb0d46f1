import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Failure } from '../domain/failure.ts';
import type { LineWriter } from '../terminal/line-writer.ts';
import { isLoopback } from '../domain/loopback.ts';
import { startGuardServer, type GuardModelName, type GuardServer } from './server.ts';
import { parseFaults, type Fault } from './synthetic/faults.ts';

export interface ServeOptions {
  readonly model: GuardModelName;
  readonly host: string;
  /** 0: a free one. */
  readonly grpcPort: number;
  /** A fault script for the synthetic model, read again on SIGHUP. */
  readonly faults?: string | undefined;
  /** Needed to listen on anything but a loopback address; every call must then carry it. */
  readonly token?: string | null | undefined;
}

/**
 * Serves the embedded guard until `signal` aborts, then lets accepted requests finish for at most 10 s. Says where it
 * listens, and of a changed fault script whether it is in force, on `stdout`.
 * Failure('usage') for an address without a token, a port that is taken, a fault script that is wrong.
 */
export async function serveGuard(
  options: ServeOptions,
  signal: AbortSignal,
  stdout: LineWriter,
): Promise<void> {
  const { model, host, grpcPort } = options;
  const token = options.token || null;
  if (token === null && !isLoopback(host)) {
    throw new Failure('usage', `--host ${host} can be reached from outside: set GUARD_TOKEN to listen there`);
  }
  if (options.faults !== undefined && model !== 'synthetic') {
    throw new Failure('usage', '--faults needs --model synthetic');
  }
  const faults = options.faults === undefined ? [] : await readFaults(options.faults);
  const server = await startGuardServer({ model, host, grpcPort, token, synthetic: { faults } });
  const reload = (): void => void reloadFaults(server, options.faults!, stdout);
  if (options.faults !== undefined) process.on('SIGHUP', reload);
  try {
    stdout.line(`guard listening on ${server.address} (model ${model}, demonstration)`);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    process.off('SIGHUP', reload);
    await server.close();
  }
}

async function readFaults(path: string): Promise<readonly Fault[]> {
  try {
    return parseFaults(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new Failure('usage', `--faults ${path}: not a readable fault script`, { cause });
  }
}

/** A script that is wrong leaves the one in force. */
async function reloadFaults(server: GuardServer, path: string, stdout: LineWriter): Promise<void> {
  try {
    server.synthetic?.setFaults(await readFaults(path));
    stdout.line('fault script read again');
  } catch (error) {
    stdout.line(`fault script unchanged: ${(error as Failure).message}`);
  }
}
