import { readFile } from 'node:fs/promises';
import { Cli } from '../cli.ts';
import { until } from '../run-directory.ts';

/** The command `guard` as a process whose memory is measured. Linux only. */
export interface MeasuredGuard {
  readonly address: string;
  readonly httpAddress: string;
  /** By how much the most memory it has ever had has grown since it was started, in bytes. */
  grown(): Promise<number>;
}

export async function measuredGuard(token: string): Promise<MeasuredGuard> {
  const ports = ['--grpc-port', '0', '--http-port', '0', '--metrics-port', '0'];
  const cli = new Cli(['guard', '--model', 'synthetic', ...ports], { env: { GUARD_TOKEN: token } });
  const [, address, httpAddress] = await until(
    async () => /(grpc:\S+) and (http:\S+)/.exec(cli.stdout) ?? undefined,
    'the addresses of the guard',
  );
  const peak = async (): Promise<number> => {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${cli.child.pid}/status`, 'utf8'))!;
    return Number(kib) * 1024;
  };
  const before = await peak();
  return { address: address!, httpAddress: httpAddress!, grown: async () => (await peak()) - before };
}
