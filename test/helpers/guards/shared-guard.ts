import { afterAll, onTestFinished } from 'vitest';
import {
  type GuardServer,
  type GuardServerOptions,
  startGuardServer,
} from '../../../src/guard-server/server.ts';
import { TestClient } from './guard-client.ts';

interface ClientAndServer {
  readonly server: GuardServer;
  readonly client: TestClient;
}

/** A guard with a client, for all tests of a file. It has the synthetic model, which takes no time, unless told otherwise. */
export async function sharedGuard(options: Partial<GuardServerOptions> = {}): Promise<ClientAndServer> {
  const { close, ...started } = await start(options);
  afterAll(close);
  return started;
}

/** The same for one test. */
export async function guardForTest(options: Partial<GuardServerOptions> = {}): Promise<ClientAndServer> {
  const { close, ...started } = await start(options);
  onTestFinished(close);
  return started;
}

/** The server alone, for one test. */
export const syntheticGuard = async (synthetic: GuardServerOptions['synthetic'] = {}): Promise<GuardServer> =>
  (await guardForTest({ synthetic })).server;

async function start(options: Partial<GuardServerOptions>) {
  const synthetic = { serviceTime: 'zero', ...options.synthetic } as const;
  const server = await startGuardServer({ model: 'synthetic', grpcPort: 0, ...options, synthetic });
  const client = new TestClient(server.address);
  const close = async (): Promise<void> => {
    client.close();
    await server.close();
  };
  return { server, client, close };
}
