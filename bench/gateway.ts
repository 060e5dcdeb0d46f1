import { Failure } from '../src/domain/failure.ts';
import { seededRandom } from '../training/random.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure, ratios, type Figure } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import type { GuardAddresses } from './processes/guard-addresses.ts';
import { withGuard } from './processes/guard-process.ts';
import type { GuardSettings } from './processes/guard-settings.ts';
import { REFERENCE_GUARD, ZERO_TIME_GUARD } from './processes/guards.ts';
import { MeasuredProcess } from './processes/measured-process.ts';
import { GrpcUnaryClient } from './traffic/grpc-unary.ts';
import { HttpUnaryClient } from './traffic/http-unary.ts';
import { runLoad, type Caller, type Load } from './traffic/load.ts';
import { RestClient } from './traffic/rest-client.ts';
import { pick, randomText } from './traffic/texts.ts';
import { judgeAlone, type Judged, type UnaryClient } from './traffic/unary-caller.ts';
import { promptCall } from './traffic/unary-calls.ts';

const ROUNDS = 3;
const SECONDS = 3;
const CONCURRENCY = [1, 8, 64];
const TEXTS = 200;

const GUARDS: Readonly<Record<string, GuardSettings>> = {
  'published times': REFERENCE_GUARD,
  'no time': ZERO_TIME_GUARD,
};

/** A text and its expected answer. */
interface Sample extends Judged {
  readonly text: string;
}

/** Measures the cost that the gateway adds to a guard. */
export const gateway: Bench = {
  name: 'gateway',
  measures: 'requests/s and latency of texts through guardsweep serve ÷ those of the guard called directly',
  async run(context) {
    for (const [name, settings] of Object.entries(GUARDS)) {
      await withGuard(settings, context, ({ addresses }) => measure(name, addresses, context));
    }
    return { figures: [], raw: { guards: GUARDS } };
  },
};

async function measure(name: string, guard: GuardAddresses, context: BenchContext): Promise<void> {
  const samples = await samplesOf(guard, context.seed);
  const serving = MeasuredProcess.command(['serve', '--guard', guard.grpc, '--port', '0'], context);
  try {
    const [, origin] = await serving.prints(/gateway listening on (http:\S+)\n/);
    for (const count of CONCURRENCY) {
      const load = (connect: () => Ask): Promise<Load> => loadOf(connect, count, samples, context);
      const tasks = {
        gateway: () => load(() => throughGateway(origin!)),
        http: () => load(() => direct(new HttpUnaryClient(guard.http))),
        grpc: () => load(() => direct(new GrpcUnaryClient(guard.grpc))),
      };
      const title = `${name}, ${count} at a time`;
      context.say(`${title}: warming up`);
      for (const task of Object.values(tasks)) await task();
      const { gateway, http, grpc } = await interleave(context, ROUNDS, tasks);
      await context.keep(figuresOf(title, gateway, { HTTP: http, gRPC: grpc }), {
        [title]: { gateway, http, grpc },
      });
    }
  } finally {
    await serving.kill();
  }
}

async function samplesOf({ grpc }: GuardAddresses, seed: number): Promise<Sample[]> {
  const random = seededRandom(seed);
  const texts = Array.from({ length: TEXTS }, () => randomText(random, 1, 60));
  const client = new GrpcUnaryClient(grpc);
  try {
    const judged = await judgeAlone(texts.map(promptCall), client);
    return judged.map((one, index) => ({ ...one, text: texts[index]! }));
  } finally {
    client.close();
  }
}

/** Sends texts, one at a time. */
interface Ask {
  /** Returns what was wrong with the answer, or null. */
  readonly ask: (sample: Sample) => Promise<string | null>;
  readonly close: () => void;
}

function direct(client: UnaryClient): Ask {
  return {
    ask: async ({ call, verdict }) => {
      const answer = await client.send(call, '1');
      return answer !== 'left' && 'verdict' in answer && answer.verdict === verdict
        ? null
        : JSON.stringify(answer);
    },
    close: () => client.close(),
  };
}

function throughGateway(origin: string): Ask {
  const client = new RestClient(origin);
  return {
    ask: async ({ text, verdict }) => {
      const score = await client.score(text);
      return verdict.startsWith(`SCORE ${score}, `) ? null : score;
    },
    close: () => client.close(),
  };
}

async function loadOf(
  connect: () => Ask,
  count: number,
  samples: readonly Sample[],
  context: BenchContext,
): Promise<Load> {
  const { seed, signal } = context;
  const callers = Array.from({ length: count }, (_, at): Caller => {
    const random = seededRandom(seed + 1 + at);
    const client = connect();
    return {
      exchange: async () => ({ kind: 'text', isBad: false, wrong: await client.ask(pick(random, samples)) }),
      close: () => client.close(),
    };
  });
  try {
    const load = await runLoad(callers, context.seconds(SECONDS) * 1000, signal);
    if (load.wrong === 0) return load;
    throw new Failure(
      'internal',
      `${load.wrong} of ${load.requests} answers are wrong: ${load.examples.join('; ')}`,
    );
  } finally {
    for (const caller of callers) caller.close();
  }
}

function figuresOf(
  title: string,
  gateway: readonly Load[],
  direct: Readonly<Record<string, readonly Load[]>>,
): Figure[] {
  const rates = (loads: readonly Load[]): number[] =>
    loads.map(({ requests, seconds }) => requests / seconds);
  const latencies = (loads: readonly Load[]): number[] => loads.map(({ latency }) => latency.p50);
  return Object.entries(direct).flatMap(([transport, loads]) => [
    figure(`${title}: requests/s ÷ guard over ${transport}`, '', ratios(rates(gateway), rates(loads))),
    figure(
      `${title}: latency p50 ÷ guard over ${transport}`,
      '',
      ratios(latencies(gateway), latencies(loads)),
    ),
    figure(
      `${title}: latency p50 − guard over ${transport}`,
      'ms',
      latencies(gateway).map((value, round) => value - latencies(loads)[round]!),
    ),
  ]);
}
