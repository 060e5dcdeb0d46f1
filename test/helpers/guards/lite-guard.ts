import { startGuardServer, type GuardServer } from '../../../src/guard-server/server.ts';

/** The guard `lite` on a free port. */
export function startLiteGuard(): Promise<GuardServer> {
  return startGuardServer({ model: 'lite', grpcPort: 0 });
}
