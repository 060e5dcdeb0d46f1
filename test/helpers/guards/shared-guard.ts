import { afterAll } from 'vitest';
import {
  type GuardServer,
  type GuardServerOptions,
  startGuardServer,
} from '../../../src/guard-server/server.ts';
import { TestClient } from './guard-client.ts';

/** A guard with a client, for all tests of a file. It has the synthetic model, which takes no time, unless told otherwise. */
export async function sharedGuard(
  options: Partial<GuardServerOptions> = {},
): Promise<{ readonly server: GuardServer; readonly client: TestClient }> {
  const synthetic = { serviceTime: 'zero', ...options.synthetic } as const;
  const server = await startGuardServer({ model: 'synthetic', grpcPort: 0, ...options, synthetic });
  const client = new TestClient(server.address);
  afterAll(async () => {
    client.close();
    await server.close();
  });
  return { server, client };
}
