import type * as Built from '../../../src/guard-server/server.ts';

/** Its images are decoded in a process, which runs compiled code only, so it is tested as it is built. */
const built = new URL('../../../dist/src/guard-server/server.js', import.meta.url).href;
const { startGuardServer } = (await import(/* @vite-ignore */ built)) as typeof Built;

/** The guard `lite` on a free port. */
export function startLiteGuard(): Promise<Built.GuardServer> {
  return startGuardServer({ model: 'lite', grpcPort: 0 });
}
