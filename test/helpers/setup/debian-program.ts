import { execFileSync, spawnSync } from 'node:child_process';

/** Another suite may be installing at the same time. */
const WAIT = ['-o', 'DPkg::Lock::Timeout=300'];

/**
 * The first program of `names` that runs with `versionFlag`; installs Debian's package of it where that is allowed.
 * Throws an error that says what to install: a test that needs it must not be passed over.
 */
export function debianProgram(
  names: readonly string[],
  { versionFlag, package: name }: { readonly versionFlag: string; readonly package: string },
): string {
  const find = (): string | undefined =>
    names.find((program) => spawnSync(program, [versionFlag]).status === 0);
  const found = find();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    const quiet = { stdio: 'ignore' } as const;
    const install = (): boolean =>
      spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...WAIT, name], quiet).status === 0;
    if (!install()) {
      execFileSync('apt-get', ['update', ...WAIT], quiet);
      install();
    }
    const installed = find();
    if (installed !== undefined) return installed;
  }
  throw new Error(`these tests need ${names.join(' or ')}: install it, e.g. apt-get install ${name}`);
}

/** Where on the PATH a program is. */
export function findProgram(name: string): string {
  return execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' }).trim();
}
