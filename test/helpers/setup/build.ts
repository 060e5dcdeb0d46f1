import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** End-to-end tests run the compiled command line: compile it when it is older than its sources. */
export default function setup(): void {
  const bootstrap = fileURLToPath(new URL('../../../src/cli/bootstrap.mjs', import.meta.url));
  execFileSync(process.execPath, [bootstrap, 'build'], { stdio: 'inherit' });
}
