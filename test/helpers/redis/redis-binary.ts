import { debianProgram } from '../setup/debian-program.ts';

/** The server's binary; installs Debian's package where that is allowed, else says what to install. */
export function redisBinary(): string {
  return debianProgram(['redis-server', 'valkey-server'], {
    versionFlag: '--version',
    package: 'redis-server',
  });
}
