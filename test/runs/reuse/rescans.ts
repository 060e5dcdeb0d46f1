import { setMaxListeners } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveRunConfig } from '../../../src/config/resolve.ts';
import type { RunConfig } from '../../../src/config/run-config.ts';
import type { Flags } from '../../../src/config/settings/given.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { connectGuards } from '../../../src/guard/pool/connect-guards.ts';
import type { GuardSession } from '../../../src/guard/pool/guard-session.ts';
import type { RunResult } from '../../../src/runs/run-end.ts';
import { startRun, type JudgeRunOptions } from '../../../src/runs/start-run.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { countingGuard, type CountingGuard } from '../../helpers/guards/counting-guard.ts';
import { outcomes } from '../../helpers/run-directory.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

export interface Site {
  readonly folder: string;
  readonly uploads: string;
  readonly guard: CountingGuard;
  /** Scans the uploads and checks the record. `taken` is what the guard was asked for. */
  readonly scan: (flags?: Flags, options?: Partial<JudgeRunOptions>) => Promise<Scan>;
}

export interface Scan extends RunResult {
  readonly lines: readonly OutcomeLine[];
  readonly taken: readonly string[];
}

/** A folder of uploads that is scanned again and again, by one guard and into one output folder. */
export async function site(limits: Partial<RunConfig['limits']> = {}): Promise<Site> {
  const guard = await countingGuard();
  const folder = await temporaryFolder();
  const uploads = join(folder, 'uploads');
  await mkdir(uploads);
  const scan: Site['scan'] = async (flags = {}, options = {}) => {
    const where = { paths: ['uploads'], cwd: folder, env: {} };
    const { config } = await resolveRunConfig({
      ...where,
      flags: { guard: ['grpc://gpu-1:8001'], ...flags },
    });
    const result = await startRun(
      { ...config, limits: { ...config.limits, ...limits } },
      {
        ...{ keyFile: null, drain: never, stop: never, signingKey: null, report: () => undefined },
        guards: async () => () => sessionWith(guard.server.address),
        ...options,
      },
    );
    const verified = await verifyRun(result.run.dir, {});
    if (!verified.ok) throw new Error(`the record is not in order: ${JSON.stringify(verified)}`);
    return { ...result, lines: await outcomes(result.run.dir), taken: guard.taken() };
  };
  return { folder, uploads, guard, scan };
}

/** Guards that a run is judged by, without the checks of a command's start. */
export async function sessionWith(address: string): Promise<GuardSession> {
  const options = { expectFingerprint: null, maxWaitMs: 20_000 };
  const pool = await connectGuards([{ name: address, address }], options, never);
  return { pool, died: never, close: () => pool.close() };
}
