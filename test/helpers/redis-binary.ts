import { execFileSync, spawnSync } from 'node:child_process';

const NAMES = ['redis-server', 'valkey-server'];

/** The server's binary; installs Debian's package where that is allowed, else says what to install. */
export function redisBinary(): string {
  const find = (): string | undefined => NAMES.find((name) => spawnSync(name, ['--version']).status === 0);
  const found = find();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    const quiet = { stdio: 'ignore' } as const;
    const install = (): boolean =>
      spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], quiet).status === 0;
    if (!install()) {
      execFileSync('apt-get', ['update'], quiet);
      install();
    }
    const installed = find();
    if (installed !== undefined) return installed;
  }
  throw new Error(
    'these tests need redis-server (or valkey-server): install it, e.g. apt-get install redis-server',
  );
}
