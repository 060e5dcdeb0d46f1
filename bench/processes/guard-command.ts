import { Failure } from '../../src/domain/failure.ts';
import type { BenchContext } from '../harness/bench.ts';
import type { GuardAddresses } from './guard-addresses.ts';
import { MeasuredProcess } from './measured-process.ts';

/** The built command `guardsweep guard` in a separate process, with the embedded model, on free ports. */
export class GuardCommand {
  readonly addresses: GuardAddresses;
  readonly #process: MeasuredProcess;
  readonly #metricsUrl: string;

  private constructor(process: MeasuredProcess, addresses: GuardAddresses, metricsUrl: string) {
    this.#process = process;
    this.addresses = addresses;
    this.#metricsUrl = metricsUrl;
  }

  static async start(context: BenchContext): Promise<GuardCommand> {
    const ports = ['--grpc-port', '0', '--http-port', '0', '--metrics-port', '0'];
    const started = MeasuredProcess.command(['guard', ...ports], context);
    try {
      const [, grpc, http] = await started.prints(/listening on (grpc:\S+) and (http:\S+)/);
      const [, metricsUrl] = await started.prints(/metrics at (http:\S+)\n/);
      return new GuardCommand(started, { grpc: grpc!, http: http! }, metricsUrl!);
    } catch (error) {
      await started.kill();
      throw error;
    }
  }

  /** Current resident memory, in bytes. Throws a Failure if the guard has ended. */
  get residentBytes(): number {
    return this.#process.residentBytes;
  }

  /** The sum of a metric over its labels; rejects with a Failure if it is missing. */
  async metric(name: string, signal: AbortSignal): Promise<number> {
    const response = await fetch(this.#metricsUrl, { signal });
    const lines = (await response.text()).split('\n').filter((line) => /^[^ {]*/.exec(line)![0] === name);
    if (lines.length === 0) throw new Failure('internal', `the guard has no metric ${name}`);
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** Ends it like an interrupt; rejects with a Failure unless it ends successfully. */
  async stop(): Promise<void> {
    await this.#process.stop();
    await this.#process.ended();
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }
}
