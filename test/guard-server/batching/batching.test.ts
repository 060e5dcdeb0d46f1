import { describe, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import type { SyntheticOptions } from '../../../src/guard-server/synthetic/synthetic-model.ts';
import type { GuardServer, SyntheticControl } from '../../../src/guard-server/server.ts';
import { messages, promptInputs, row } from '../../helpers/guards/guard-client.ts';
import type { TestClient, TestTensor } from '../../helpers/guards/guard-client.ts';
import { guardForTest } from '../../helpers/guards/shared-guard.ts';
import { settled } from '../../helpers/settled.ts';

let server: GuardServer;
let client: TestClient;
let control: SyntheticControl;

async function start(maxBatchSize: number, synthetic: SyntheticOptions = {}): Promise<void> {
  ({ server, client } = await guardForTest({ maxBatchSize, synthetic }));
  control = server.synthetic!;
}

/** Holds the only instance, sends the requests in order, lets go, and returns the number of executions they took. */
async function executionsOf(requests: readonly TestTensor[][]): Promise<number> {
  control.pause();
  const first = client.infer({ tensors: promptInputs(['first']) });
  await settled(() => control.counts.executions === 1);
  const rest = requests.map((tensors) => client.infer({ tensors }));
  await settled(() => control.waiting === requests.length);
  control.resume();
  await Promise.all([first, ...rest]);
  return control.counts.executions - 1;
}

const one = promptInputs(['a']);
const response = row({ REQUEST_TYPE: 'response', RESPONSE_TEXT: 'a' });
const turns = (count: number): TestTensor[] => [
  ...row({ REQUEST_TYPE: 'multiturn' }),
  messages(...Array.from({ length: count }, () => ['user', 'a'] as const)),
];

describe('dynamic batching', () => {
  const three = promptInputs(['a', 'b', 'c']);
  it.each<[what: string, maxBatchSize: number, requests: TestTensor[][], executions: number]>([
    ['joins requests of one signature up to the batch size', 4, [one, one, one, one, one], 2],
    ['never splits a request', 4, [three, three, one, one], 3],
    ['keeps requests with different input names apart', 8, [one, response, one, response], 4],
    ['keeps conversations of different lengths apart', 8, [turns(2), turns(2), turns(3)], 2],
  ])('%s', async (_what, maxBatchSize, requests, executions) => {
    await start(maxBatchSize);
    expect(await executionsOf(requests)).toBe(executions);
  });

  it('runs as many executions at once as there are instances', async () => {
    await start(1, { instances: 3 });
    control.pause();
    const replies = [1, 2, 3, 4].map(() => client.infer({ tensors: one }));
    await settled(() => control.waiting === 1);
    expect(control.counts.executions).toBe(3);
    control.resume();
    await Promise.all(replies);
    expect(control.counts.executions).toBe(4);
  });

  it('drops a waiting request when its deadline passes or its client goes', async () => {
    await start(1);
    control.pause();
    const first = client.infer({ tensors: one });
    await settled(() => control.counts.executions === 1);
    const abort = new AbortController();
    const gone = client.infer({ tensors: one }, { signal: abort.signal });
    const left = expect(gone).rejects.toMatchObject({ code: status.CANCELLED });
    await settled(() => control.waiting === 1);
    const late = client.infer({ tensors: one }, { deadlineMs: 100 });
    await expect(late).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    abort.abort();
    await left;
    await settled(() => control.waiting === 0);
    control.resume();
    await first;
    expect(control.counts.executions).toBe(1);
  });
});

it('closing lets accepted requests finish and can be asked twice', async () => {
  await start(1, { serviceTime: () => 100 });
  const reply = client.infer({ tensors: one });
  await settled(() => control.counts.executions === 1);
  await Promise.all([server.close(), server.close()]);
  expect((await reply).outputs).not.toHaveLength(0);
});
