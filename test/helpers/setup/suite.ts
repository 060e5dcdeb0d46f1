import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { ViteUserConfig } from 'vitest/config';

export const ROOT = new URL('../../..', import.meta.url).pathname;
/** Where the commands that tests run keep what they keep for their user, instead of in the home of whoever tests. */
export const STATE_FOLDER = join(tmpdir(), `guardsweep-test-state-${userInfo().uid}`);

export const BUILD = 'test/helpers/setup/build.ts';
export const REDIS = 'test/helpers/redis/install-redis.ts';
export const FFMPEG = 'test/helpers/setup/install-ffmpeg.ts';

/** What every suite has in common, of `test/<folder>` where it names no files. */
export const suite = (
  folder: string,
  globalSetup: string[],
  options: ViteUserConfig['test'] & { maxWorkers: number },
): ViteUserConfig => ({
  test: {
    root: ROOT,
    include: [`test/${folder}/**/*.test.ts`],
    globalSetup: [BUILD, ...globalSetup],
    pool: 'forks',
    testTimeout: 900_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    ...options,
    env: { XDG_STATE_HOME: STATE_FOLDER, ...options.env },
  },
});
