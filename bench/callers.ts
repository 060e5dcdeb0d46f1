import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../src/domain/failure.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure, median, type Figure } from './harness/figures.ts';
import { GuardCommand } from './processes/guard-command.ts';
import { DOORS, type Door } from './traffic/doors.ts';
import { runLoad, type Load } from './traffic/load.ts';

const CALLERS = 200;
const SECONDS = 60;
/** Warm-up time as a fraction of the measured time: code is then compiled and caches are filled. */
const WARM_UP = 0.2;
const MAX_GROWTH = 1.1;

const SAMPLE_MS = 200;
/** Fraction of the samples that represents the start, the middle or the end. */
const WINDOW = 0.2;

/** Gauges of open resources, which must be 0 when the callers have left. */
const OPEN = [
  'nv_inference_pending_request_count',
  'guardsweep_moderation_streams_open',
  'guardsweep_moderation_streams_unjudged_code_units',
];
const SETTLE_MS = 10_000;
const LOOK_EVERY_MS = 50;

/** Resident memory of the guard, in MiB. */
interface Memory {
  readonly start: number;
  readonly middle: number;
  readonly end: number;
}

/**
 * Checks that the guard serves many callers at a time correctly and with flat memory, even if some requests are bad.
 */
export const callers: Bench = {
  name: 'callers',
  measures: `requests/s, latency and memory of the guard with ${CALLERS} callers, 5 % of whose requests are bad; every answer checked`,
  async run(context) {
    for (const door of DOORS) {
      const { load, memory, left } = await held(door, context);
      await context.keep(figuresOf(door.name, load, memory), { [door.name]: { load, memory, left } });
      context.say(`${door.name}: ${kindsOf(load)}`);
      check(door, load, left);
    }
    return { figures: [], raw: { callers: CALLERS } };
  },
};

/**
 * Runs the callers of a door against a separate guard. `left` has the resources that the guard reports as open
 * afterwards.
 */
async function held(
  door: Door,
  context: BenchContext,
): Promise<{ load: Load; memory: Memory; left: Readonly<Record<string, number>> }> {
  const { seed, signal } = context;
  const durationMs = context.seconds(SECONDS) * 1000;
  const guard = await GuardCommand.start(context);
  try {
    context.say(`${door.name}: ${CALLERS} callers for ${durationMs / 1000} s`);
    const all = await door.callers(guard.addresses, CALLERS, seed);
    const samples: number[] = [];
    let sampling: NodeJS.Timeout | undefined;
    try {
      const warmUp = await runLoad(all, durationMs * WARM_UP, signal);
      check(door, warmUp, {});
      sampling = setInterval(() => samples.push(guard.residentBytes / 2 ** 20), SAMPLE_MS);
      const load = await runLoad(all, durationMs, signal);
      for (const caller of all) caller.close();
      const left = await settled(guard, signal);
      await guard.stop();
      return { load, memory: memoryOf(samples), left };
    } finally {
      clearInterval(sampling);
      for (const caller of all) caller.close();
    }
  } finally {
    await guard.kill();
  }
}

function memoryOf(samples: readonly number[]): Memory {
  const window = Math.max(1, Math.round(samples.length * WINDOW));
  const middle = Math.floor((samples.length - window) / 2);
  return {
    start: median(samples.slice(0, window)),
    middle: median(samples.slice(middle, middle + window)),
    end: median(samples.slice(-window)),
  };
}

/** The gauges of open resources, once they are 0 or after SETTLE_MS. */
async function settled(guard: GuardCommand, signal: AbortSignal): Promise<Record<string, number>> {
  const endsAtMs = performance.now() + SETTLE_MS;
  for (;;) {
    const open: Record<string, number> = {};
    for (const name of OPEN) open[name] = await guard.metric(name, signal);
    if (Object.values(open).every((value) => value === 0) || performance.now() > endsAtMs) return open;
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** Throws a Failure unless every answer was right, and nothing is left open. */
function check(
  door: Door,
  { requests, wrong, examples }: Load,
  left: Readonly<Record<string, number>>,
): void {
  if (wrong > 0) {
    const text = `${door.name}: ${wrong} of ${requests} answers are wrong: ${examples.join('; ')}`;
    throw new Failure('internal', text);
  }
  for (const [name, value] of Object.entries(left)) {
    if (value !== 0)
      throw new Failure('internal', `${door.name}: ${name} is ${value} when all callers have left`);
  }
}

function figuresOf(
  door: string,
  { requests, seconds, latency }: Load,
  { start, middle, end }: Memory,
): Figure[] {
  return [
    figure(`${door}: requests`, '/s', [requests / seconds]),
    figure(`${door}: latency p50`, 'ms', [latency.p50]),
    figure(`${door}: latency p95`, 'ms', [latency.p95]),
    figure(`${door}: latency p99`, 'ms', [latency.p99]),
    figure(`${door}: memory at the start`, 'MiB', [start]),
    figure(`${door}: memory in the middle`, 'MiB', [middle]),
    figure(`${door}: memory at the end`, 'MiB', [end]),
    figure(`${door}: memory, end ÷ middle`, '', [end / middle], { atMost: MAX_GROWTH }),
  ];
}

/** Number of requests of each kind. */
function kindsOf({ kinds }: Load): string {
  return Object.entries(kinds)
    .sort(([, a], [, b]) => Number(a.isBad) - Number(b.isBad))
    .map(([kind, { requests, wrong }]) => `${kind} ${requests}${wrong > 0 ? ` (${wrong} wrong)` : ''}`)
    .join(', ');
}
