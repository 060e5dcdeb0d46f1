import { onTestFinished } from 'vitest';
import {
  startGuardServer,
  type GuardServer,
  type GuardServerOptions,
} from '../../src/guard-server/server.ts';

/** A synthetic guard that answers at once, served until the test is over. */
export async function syntheticGuard(synthetic: GuardServerOptions['synthetic'] = {}): Promise<GuardServer> {
  const server = await startGuardServer({
    ...{ model: 'synthetic', grpcPort: 0 },
    synthetic: { serviceTime: 'zero', ...synthetic },
  });
  onTestFinished(() => server.close());
  return server;
}
