import { setTimeout as delay } from 'node:timers/promises';
import type { Cadence } from '../src/guard/tensors/stream/stream-messages.ts';
import { seededRandom } from '../training/random.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure, type Figure } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import type { GuardAddresses } from './processes/guard-addresses.ts';
import { withGuard } from './processes/guard-process.ts';
import { REFERENCE_GUARD } from './processes/guards.ts';
import { GrpcStreamClient } from './traffic/grpc-streams.ts';
import { lagsOf } from './traffic/paced-stream.ts';
import { percentiles, type Percentiles } from './traffic/percentiles.ts';
import type { StreamClient } from './traffic/stream-client.ts';
import { randomText } from './traffic/texts.ts';
import { WebSocketStreamClient } from './traffic/websocket-streams.ts';

const ROUNDS = 3;
const SECONDS = 8;
/** 20 chunks per second. */
const PACE_MS = 50;

/** Time between two verdicts due by the cadence, at this pace. */
const CADENCE_MS = 200;
const CADENCES: readonly Cadence[] = [
  { unit: 'chunks', every: CADENCE_MS / PACE_MS },
  { unit: 'ms', every: CADENCE_MS },
];
const STREAMS = [1, 50];

const TRANSPORTS: Readonly<Record<string, (guard: GuardAddresses) => StreamClient>> = {
  gRPC: ({ grpc }) => new GrpcStreamClient(grpc),
  WebSocket: ({ http }) => new WebSocketStreamClient(http),
};

/** Measures how far verdicts on moderation streams lag behind the text, beyond the wait imposed by the cadence. */
export const streaming: Bench = {
  name: 'streaming',
  measures:
    'lag of verdicts behind the point at which the cadence makes them due, ÷ the cadence, at 1 and 50 streams',
  async run(context) {
    return withGuard(REFERENCE_GUARD, context, async ({ addresses }) => {
      const tasks: Record<string, () => Promise<Percentiles>> = {};
      for (const [transport, connect] of Object.entries(TRANSPORTS)) {
        for (const count of STREAMS) {
          for (const cadence of CADENCES) {
            const name = `${transport}, ${count} at a time, every ${cadence.every} ${cadence.unit}`;
            tasks[name] = () => lag(() => connect(addresses), count, cadence, context);
          }
        }
      }
      const rounds = await interleave(context, ROUNDS, tasks);
      const figures = Object.entries(rounds).flatMap(([name, lags]) => figuresOf(name, lags));
      return { figures, raw: { guard: REFERENCE_GUARD, paceMs: PACE_MS, lagsMs: rounds } };
    });
  },
};

/** The lag of the chunks of all streams, in milliseconds. */
async function lag(
  connect: () => StreamClient,
  count: number,
  cadence: Cadence,
  context: BenchContext,
): Promise<Percentiles> {
  const { seed, signal } = context;
  const chunkCount = Math.round((context.seconds(SECONDS) * 1000) / PACE_MS);
  const all = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const random = seededRandom(seed + at);
      const chunks = Array.from({ length: chunkCount }, () => `${randomText(random, 1, 3)} `);
      const client = connect();
      try {
        // Streams do not all send at the same time.
        await delay(random() * PACE_MS, undefined, { signal });
        const generation = { prompt: randomText(random, 3, 20), chunks, cadence, paceMs: PACE_MS };
        return await lagsOf(generation, client, signal);
      } finally {
        client.close();
      }
    }),
  );
  return percentiles(all.flat());
}

function figuresOf(name: string, lags: readonly Percentiles[]): Figure[] {
  return (['p50', 'p95', 'p99'] as const).map((percentile) =>
    figure(
      `${name}: lag ${percentile} ÷ cadence`,
      '',
      lags.map((of) => of[percentile] / CADENCE_MS),
    ),
  );
}
