import { debianProgram } from '../setup/debian-program.ts';

/** The server's binary; installs Debian's package where that is allowed, else says what to install. */
export const redisBinary = (): string =>
  debianProgram(['redis-server', 'valkey-server'], { versionFlag: '--version', package: 'redis-server' });

/** Once, before tests run side by side: two of them must not install it at the same time. */
export default (): void => void redisBinary();
