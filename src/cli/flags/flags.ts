import { Option } from 'commander';

interface FlagHelp {
  /** Starts with a verb or a noun, ends without a full stop. */
  readonly what: string;
  /** What holds when the flag, the job file and the environment are silent. */
  readonly fallback: string;
  /** A value as it could be typed; none for switches. */
  readonly example?: string;
}

const collect = (value: string, earlier: readonly string[] | undefined): readonly string[] => [
  ...(earlier ?? []),
  value,
];

/**
 * A flag whose help always tells its default and an example. Values stay as typed and absent ones absent: they are
 * checked where they meet the job file and the environment.
 */
export function flag(spec: string, { what, fallback, example }: FlagHelp): Option {
  const shown = example === undefined ? '' : `; example: ${example}`;
  return new Option(spec, `${what} (default: ${fallback}${shown})`);
}

/** A flag that may be given several times; its value is the list. */
export function repeatableFlag(spec: string, help: FlagHelp): Option {
  return flag(spec, { ...help, what: `${help.what}; repeatable` }).argParser(collect);
}

export const jsonFlag = (what: string): Option => flag('--json', { what, fallback: 'text' });

export const quietFlag = (): Option =>
  flag('--quiet', { what: 'show no progress and no notices on stderr', fallback: 'shown' });

export const guardFlag = (): Option =>
  repeatableFlag('--guard <url>', {
    what: 'guard endpoint: grpc[s]://host:8001, https://host, http://host:9000 (REST) or embedded:',
    fallback: 'GUARD_URL, else embedded:',
    example: 'grpc://gpu-1:8001',
  });

export const outFlag = (): Option =>
  flag('--out <dir>', {
    what: 'folder in which the run directory is made',
    fallback: 'runs',
    example: '/data/runs',
  });

export const redisFlag = (fallback = 'REDIS_URL, else none'): Option =>
  flag('--redis <url>', {
    what: "the fleet's Redis: redis://, rediss:// (TLS) or unix:///path; passwords are better in REDIS_URL",
    fallback,
    example: 'redis://queue-1:6379',
  });

export const startWaitFlag = (fallback = '30s'): Option =>
  flag('--start-wait <duration>', {
    what: 'how long Redis and guards may take to be there at the start, in s, m or h, before status 4',
    fallback,
    example: '10m',
  });

export const insecureFleetFlag = (): Option =>
  flag('--insecure-fleet', {
    what: 'use a Redis on another machine without GUARDSWEEP_FLEET_KEY: whoever reaches it can forge outcomes',
    fallback: 'a key is needed there',
  });

export const headFileFlag = (): Option =>
  flag('--head-file <file>', {
    what: 'note the chain head of each finished pass in this file, which is outside of run directories',
    fallback: 'none',
    example: '/var/lib/audit/heads.jsonl',
  });

export const onFinishFlag = (): Option =>
  repeatableFlag('--on-finish <program>', {
    what: 'run this program, without a shell, when the run is finished; given again, its arguments',
    fallback: 'none',
    example: './note-head.sh',
  });

export const detachFlag = (): Option =>
  flag('--detach', {
    what: 'leave the feeder running in the background, its log in the run directory (with Redis only)',
    fallback: 'follow the run to its end',
  });

export const trustRunFlag = (): Option =>
  flag('--trust-run', {
    what: 'work on a run directory that you have not created here, after looking at what it reads and where it sends that',
    fallback: 'status 2 for such a one',
  });

export const metricsPortFlag = (): Option =>
  flag('--metrics-port <port>', {
    what: 'port for Prometheus metrics under /metrics, 0 to 65535; 0: a free one, which is printed',
    fallback: 'none are served',
    example: '9464',
  });

export const metricsHostFlag = (): Option =>
  flag('--metrics-host <address>', {
    what: 'address that metrics are served on; any but a loopback address needs GUARDSWEEP_METRICS_TOKEN or --metrics-open',
    fallback: '127.0.0.1',
    example: '0.0.0.0',
  });

export const metricsOpenFlag = (): Option =>
  flag('--metrics-open', {
    what: 'serve metrics to whoever can reach the address, without a token',
    fallback: 'the token in GUARDSWEEP_METRICS_TOKEN, where it is set',
  });
