import { expect, it, onTestFinished } from 'vitest';
import { startGuardServer } from '../../../src/guard-server/server.ts';
import { promptInputs, TestClient } from '../../helpers/guards/guard-client.ts';

it('tells of every execution what it held and what it took, by a service time of its own', async () => {
  const observed: [rows: number, ms: number][] = [];
  const server = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: {
      serviceTime: (requests) => requests.reduce((sum, { rows }) => sum + rows, 0),
      observe: ({ requests }, serviceMs) =>
        observed.push([requests.reduce((sum, { rows }) => sum + rows, 0), serviceMs]),
    },
  });
  const client = new TestClient(server.address);
  onTestFinished(async () => {
    client.close();
    await server.close();
  });
  await client.infer({ tensors: promptInputs(['a', 'b', 'c']) });
  await client.infer({ tensors: promptInputs(['d']) });
  expect(observed).toEqual([
    [3, 3],
    [1, 1],
  ]);
  expect(server.synthetic!.counts.busyMs).toBe(4);
});
