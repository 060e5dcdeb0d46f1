/**
 * The program of a bench's guard. Takes GuardSettings as JSON in `process.argv[2]`, sends its addresses to its parent
 * and, for each message, the executions since the last one.
 */
import { tokensOfBytes } from '../../src/guard-server/contract/context-window.ts';
import type { Execution as ServerExecution } from '../../src/guard-server/contract/model.ts';
import { startGuardServer } from '../../src/guard-server/server.ts';
import type { SyntheticOptions } from '../../src/guard-server/synthetic/synthetic-model.ts';
import { referenceMs } from '../../src/guard-server/synthetic/service-time.ts';
import type { TensorRequest } from '../../src/guard-server/contract/tensor-request.ts';
import type { GuardAddresses } from './guard-addresses.ts';
import type { Execution, GuardSettings } from './guard-settings.ts';

/** A batch of 32 texts of 100 tokens takes 32 ms: slow enough that the client is not the bottleneck. */
const MS_PER_PADDED_TOKEN = 0.01;

const settings = JSON.parse(process.argv[2]!) as GuardSettings;
let executions: Execution[] = [];

function serviceTime(): NonNullable<SyntheticOptions['serviceTime']> {
  const { time, slowness } = settings;
  switch (time) {
    case 'zero':
      return 'zero';
    case 'reference':
      return (requests) => referenceMs(requests) * slowness;
    case 'padded':
      return (requests) => paddedTokens(requests) * MS_PER_PADDED_TOKEN * slowness;
  }
}

function paddedTokens(requests: readonly TensorRequest[]): number {
  let longest = 0;
  let rows = 0;
  for (const request of requests) {
    rows += request.rows;
    for (const text of request.strings.get('TEXT') ?? [])
      longest = Math.max(longest, tokensOfBytes(text.length));
  }
  return longest * rows;
}

function itemsOf({ requests }: ServerExecution): number {
  let items = 0;
  for (const { strings, rows } of requests) if (strings.has('TEXT')) items += rows;
  return items;
}

const server = await startGuardServer({
  model: 'synthetic',
  grpcPort: 0,
  httpPort: 0,
  maxBatchSize: settings.maxBatchSize,
  synthetic: {
    instances: settings.instances,
    serviceTime: serviceTime(),
    // Recording versions takes time, and no bench reads them.
    recordCapacity: 0,
    ...(settings.time === 'zero' ? {} : { observe }),
  },
});

function observe(execution: ServerExecution, serviceMs: number): void {
  executions.push({
    endedAtMs: performance.timeOrigin + performance.now(),
    serviceMs,
    items: itemsOf(execution),
    waiting: server.synthetic!.waiting,
  });
}

process.on('message', () => {
  process.send!(executions);
  executions = [];
});
process.on('disconnect', () => process.exit());
process.send!({ grpc: server.address, http: server.httpAddress! } satisfies GuardAddresses);
