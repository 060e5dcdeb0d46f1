import { expect, test } from 'vitest';
import { Cli } from '../helpers/cli.ts';
import {
  closeAfterEach,
  connect,
  guard,
  judge,
  prompts,
  stateOf,
  verdict,
} from '../helpers/guards/guard-pool.ts';

closeAfterEach();

const TIMEOUT_MS = 2000;

/** A guard in a process of its own, which can be stopped without closing its connections. */
async function guardProcess(): Promise<{ address: string; kill(signal: NodeJS.Signals): void }> {
  const ports = ['--grpc-port', '0', '--http-port', '0', '--metrics-port', '0'];
  const cli = new Cli(['guard', '--model', 'synthetic', ...ports]);
  const address = /grpc:\/\/[\d.]+:\d+/;
  await expect.poll(() => cli.stdout, { timeout: 20_000 }).toMatch(address);
  return { address: address.exec(cli.stdout)![0], kill: (signal) => cli.kill(signal) };
}

test(
  'a guard that hangs delays its items by one deadline, and costs none an attempt',
  { timeout: 60_000 },
  async () => {
    const hung = await guardProcess();
    const other = await guard();
    const pool = await connect([hung, other], { requestTimeoutMs: TIMEOUT_MS });
    const startedAt = performance.now();
    const judged = judge(pool, prompts(600));
    await expect.poll(() => pool.status()[0]!.inFlight, { interval: 1 }).toBeGreaterThan(0);
    hung.kill('SIGSTOP');
    for (const outcome of await judged) expect(verdict(outcome)).toMatchObject({ attempts: 1 });
    // One deadline of the request and one of the check, whatever the number of items; the rest is for a loaded machine.
    expect(performance.now() - startedAt).toBeLessThan(8 * TIMEOUT_MS);
    expect(pool.status()[0]!.state).toMatchObject({ name: 'out', reason: 'no answer in time' });
    const back = stateOf(pool, 'ready', hung.address);
    hung.kill('SIGCONT');
    await back;
  },
);
