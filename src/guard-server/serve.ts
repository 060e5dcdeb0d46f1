import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Failure } from '../domain/failure.ts';
import type { Interrupts } from '../terminal/interrupt.ts';
import type { LineWriter } from '../terminal/line-writer.ts';
import { isLoopback } from '../domain/access.ts';
import { serveMetrics, type MetricsAddress, type MetricsServer } from '../http/metrics-server.ts';
import { guardMetrics } from './service/guard-metrics.ts';
import type { ModelControl } from './service/model-repository.ts';
import { startGuardServer, type GuardModelName, type GuardServer } from './server.ts';
import { parseFaults, type ScriptedFault } from './synthetic/faults.ts';

export interface ServeOptions {
  readonly model: GuardModelName;
  /** For the model `lite` only: return all category scores for all content, not only for flagged content. */
  readonly allScores?: boolean;
  readonly host: string;
  /** 0 picks a free port. */
  readonly grpcPort: number;
  /** 0 picks a free port. */
  readonly httpPort: number;
  /** 0 picks a free port. */
  readonly metricsPort: number;
  /** Default `none`. */
  readonly modelControl?: ModelControl;
  /** The model to load at the start, with model control `explicit`. */
  readonly loadModel?: 'guard' | null;
  /** A fault script for the synthetic model, read again on SIGHUP. */
  readonly faults?: string | undefined;
  /** Required of every call and of every request for metrics; optional on loopback addresses only. */
  readonly token?: string | null | undefined;
}

/**
 * Serves the embedded guard and its metrics until `drain` aborts, then waits for open calls until `stop` aborts, and
 * rejects with its reason. Prints to `stdout` the addresses and, on SIGHUP, whether the fault script was reloaded.
 * Failure('usage') for a non-loopback address without a token, a port in use, an invalid fault script, or a model to
 * load without explicit model control.
 */
export async function serveGuard(
  options: ServeOptions,
  { drain, stop }: Interrupts,
  stdout: LineWriter,
): Promise<void> {
  const { model, host, grpcPort, httpPort, metricsPort, modelControl = 'none', loadModel = null } = options;
  const token = options.token || null;
  if (token === null && !isLoopback(host)) {
    throw new Failure('usage', `--host ${host} can be reached from outside: set GUARD_TOKEN to listen there`);
  }
  if (options.faults !== undefined && model !== 'synthetic') {
    throw new Failure('usage', '--faults needs --model synthetic');
  }
  if (options.allScores === true && model !== 'lite') {
    throw new Failure('usage', '--all-scores needs --model lite');
  }
  if (loadModel !== null && modelControl !== 'explicit') {
    throw new Failure(
      'usage',
      '--load-model needs --model-control explicit: with none the model is always loaded',
    );
  }
  const faults = options.faults === undefined ? [] : await readFaults(options.faults);
  const server = await startGuardServer({
    ...{ model, host, grpcPort, httpPort, token, modelControl, loadModel },
    allScores: options.allScores ?? false,
    synthetic: { faults, judgesFeatures: true },
  });
  const metrics = await serveGuardMetrics(server, { host, port: metricsPort, token });
  const reload = (): void => void reloadFaults(server, options.faults!, stdout);
  if (options.faults !== undefined) process.on('SIGHUP', reload);
  try {
    stdout.line(
      `guard listening on ${server.address} and ${server.httpAddress} (model ${model}, demonstration)`,
    );
    stdout.line(`metrics at ${metrics.url}`);
    if (!drain.aborted) await once(drain, 'abort');
  } finally {
    process.off('SIGHUP', reload);
    await Promise.all([server.close(stop), metrics.close()]);
  }
  stop.throwIfAborted();
}

/** Serves the guard's metrics; closes the server when that fails. */
async function serveGuardMetrics(server: GuardServer, address: MetricsAddress): Promise<MetricsServer> {
  try {
    return await serveMetrics(guardMetrics(server.observed), address);
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function readFaults(path: string): Promise<readonly ScriptedFault[]> {
  try {
    return parseFaults(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new Failure('usage', `--faults ${path}: not a readable fault script`, { cause });
  }
}

/** Reloads the fault script. After an invalid script, the current one stays in force. */
async function reloadFaults(server: GuardServer, path: string, stdout: LineWriter): Promise<void> {
  try {
    server.synthetic?.setFaults(await readFaults(path));
    stdout.line('fault script reloaded');
  } catch (error) {
    stdout.line(`fault script unchanged: ${(error as Failure).message}`);
  }
}
