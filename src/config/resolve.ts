import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { newStdinPath } from '../files/stdin-file.ts';
import type { GuardPolicy } from '../domain/guard/guard-family.ts';
import { DEFAULT_POLICY } from '../domain/policy.ts';
import { type AfterFinish, resolveAfterFinish } from './after-finish.ts';
import { isJobFile, type JobFile, readJobFile } from './job-file/job-file.ts';
import { sourceConfigs, STDIN } from './job-file/source-config.ts';
import { type GuardTlsFiles, resolveGuardTlsFiles } from './keys/guard-tls.ts';
import { usageError } from './usage-error.ts';
import {
  type CanaryChoice,
  DEFAULT_LIMITS,
  OUTPUT_FORMATS,
  type RunConfig,
  type Trial,
} from './run-config.ts';
import { FLEET_MAX_WAIT, MAX_WAIT, PRIORITY, START_WAIT } from './settings/entries/fleet.ts';
import {
  ALLOW_EMPTY,
  ALLOW_ERRORS,
  BLOCKED_RATE,
  CATEGORY_GATES,
  ERROR_RATE,
  FAIL_IF,
  FLAGGED_RATE,
  UNCOVERED_RATE,
} from './settings/entries/gates.ts';
import { CANARIES, EXPECT_FINGERPRINT, GUARD, GUARD_POLICY } from './settings/entries/guard.ts';
import {
  FRAMES,
  LONG_AUDIO_MODE,
  VIDEO_FRAMES,
  VIDEO_INTERVAL,
  POLICY,
  REUSE,
  STORE,
  TRUST_DECLARED,
} from './settings/entries/judging.ts';
import { CSV_SEPARATOR, FORMAT, INCLUDE_CONTENT, NAME, OUT } from './settings/entries/output.ts';
import { LIMIT, SAMPLE, SEED } from './settings/entries/sampling.ts';
import {
  SCHEDULE_CATCH_UP,
  SCHEDULE_CRON,
  SCHEDULE_KEEP,
  SCHEDULE_TIMEZONE,
} from './settings/entries/schedule.ts';
import { UNPACK_DEPTH, UNPACK_PARTS, UNPACK_RATIO, UNPACK_SIZE } from './settings/entries/unpack.ts';
import {
  type Flags,
  given,
  resolveSetting,
  type Sources,
  valueOf,
  resolveSettings,
} from './settings/given.ts';
import { resolveStartWait } from './start-wait.ts';
import { mergeGates } from './values/gate.ts';
import { EMBEDDED_GUARD } from './values/guard-url.ts';
import { parseDuration } from './values/quantities.ts';
import { runNameFromPath } from './values/run-name.ts';
import type { Schedule } from './values/schedule.ts';

interface Input {
  readonly paths: readonly string[];
  readonly flags: Flags;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute folder to which paths on the command line are relative. */
  readonly cwd: string;
  /** Whether a fleet judges the run. It then needs no guard of its own and waits longer for one. */
  readonly fleet?: boolean;
  /** Whether `-` stands for stdin. */
  readonly readsStdin?: boolean;
}

/** In the folder that holds the run directory: a user who may write to one may write to both. */
const DEFAULT_STORE = '.store';

const RATE_SETTINGS = {
  flaggedRate: FLAGGED_RATE,
  blockedRate: BLOCKED_RATE,
  errorRate: ERROR_RATE,
  uncoveredRate: UNCOVERED_RATE,
};

const SCHEDULE_SETTINGS = {
  cron: SCHEDULE_CRON,
  timezone: SCHEDULE_TIMEZONE,
  catchUp: SCHEDULE_CATCH_UP,
  keepMs: SCHEDULE_KEEP,
};
const UNPACK_SETTINGS = {
  depth: UNPACK_DEPTH,
  parts: UNPACK_PARTS,
  mib: UNPACK_SIZE,
  ratio: UNPACK_RATIO,
};

const JUDGING_SETTINGS = {
  frames: FRAMES,
  longAudio: LONG_AUDIO_MODE,
  videoInterval: VIDEO_INTERVAL,
  videoFrames: VIDEO_FRAMES,
};

/** A resolved run: its frozen configuration, and the options outside of it. */
export interface ResolvedRun {
  readonly config: RunConfig;
  /** How long to wait for Redis and guards at the start, in milliseconds. */
  readonly startWaitMs: number;
  /** Paths of the files, which have not been read yet. */
  readonly guardTls: GuardTlsFiles;
  readonly afterFinish: AfterFinish;
  /** Null for a job that is started by hand. */
  readonly schedule: Schedule | null;
}

/**
 * Merges paths or a job file, flags and environment into the frozen configuration of a run. Flags take precedence over
 * the job file, the job file over the environment, and the environment over defaults. Reads the job file and the
 * policy; writes nothing except an empty head file. Failure('usage') with one line that names the origin of the first
 * mistake.
 */
export async function resolveRunConfig({
  paths,
  flags,
  env,
  cwd,
  fleet = false,
  readsStdin = false,
}: Input): Promise<ResolvedRun> {
  const file = await jobFileOf(paths, cwd);
  const from: Sources = { flags, file, env, cwd };
  const out = await valueOf(OUT, from);
  const guardPolicy = await guardPolicyOf(from, fleet);
  const stdin = readsStdin ? newStdinPath(out) : null;
  const config = deepFreeze<RunConfig>({
    name: (await valueOf(NAME, from)) ?? runNameFromPath(paths[0] === STDIN ? 'stdin' : paths[0]!),
    sources: await sourceConfigs(paths, from, stdin),
    guards: fleet ? ((await resolveSetting(GUARD, from)) ?? []) : await valueOf(GUARD, from),
    expectFingerprint: await valueOf(EXPECT_FINGERPRINT, from),
    ...(guardPolicy === null ? {} : { guardPolicy }),
    policy: (await valueOf(POLICY, from)) ?? { ...DEFAULT_POLICY },
    output: {
      dir: out,
      formats: await formatsOf(from),
      csvSeparator: await valueOf(CSV_SEPARATOR, from),
      includeContent: await valueOf(INCLUDE_CONTENT, from),
    },
    store: (await valueOf(STORE, from)) ?? storeIn(out),
    reuse: await valueOf(REUSE, from),
    ...((await valueOf(TRUST_DECLARED, from)) ? { trustDeclared: true } : {}),
    trial: await trialOf(from),
    failIf: await gatesOf(from, fleet),
    allowEmpty: await valueOf(ALLOW_EMPTY, from),
    allowErrors: await valueOf(ALLOW_ERRORS, from),
    ...(fleet ? { priority: await valueOf(PRIORITY, from), ...(await workerGuardsOf(from)) } : {}),
    maxWaitMs: await maxWaitOf(from, fleet),
    judging: await resolveSettings(JUDGING_SETTINGS, from),
    canaries: await canariesOf(from, fleet),
    limits: { ...DEFAULT_LIMITS, unpack: await unpackLimitsOf(from) },
  });
  const startWaitMs = await resolveStartWait(START_WAIT, MAX_WAIT, from);
  return {
    config,
    startWaitMs,
    guardTls: await resolveGuardTlsFiles(from),
    afterFinish: await resolveAfterFinish(from),
    schedule: await scheduleOf(from),
  };
}

/** Default folder of the verdict store for runs in a folder. */
function storeIn(out: string): string {
  return join(out, DEFAULT_STORE);
}

/** Reads the one job file among the arguments; null if they are paths. */
async function jobFileOf(paths: readonly string[], cwd: string): Promise<JobFile | null> {
  if (paths.length === 0) {
    throw new Failure('usage', 'name at least one file, folder or glob, or one job file');
  }
  const jobFiles = paths.filter(isJobFile);
  const [path] = jobFiles;
  if (path === undefined) return null;
  if (jobFiles.length > 1) throw usageError(jobFiles[1]!, 'only one job file at a time');
  if (paths.length > 1) {
    throw usageError(path, 'a job file names its own sources; give either it or paths');
  }
  return readJobFile(path, cwd);
}

/**
 * The guards to which a run on a fleet is limited: those of a flag or the job file. Ignores `GUARD_URL`, because it is
 * set for all processes of a machine.
 */
async function workerGuardsOf(from: Sources): Promise<Pick<RunConfig, 'workerGuards'>> {
  const workerGuards = await resolveSetting(GUARD, { ...from, env: {} });
  return workerGuards === null ? {} : { workerGuards };
}

/** Resolves the canaries. Failure('usage') if a run on a fleet names any, because its workers name their own. */
async function canariesOf(from: Sources, fleet: boolean): Promise<CanaryChoice> {
  if (!fleet) return (await valueOf(CANARIES, from)) ?? { from: 'built-in' };
  const chosen = given(CANARIES, from);
  if (chosen === null) return { from: 'workers' };
  throw usageError(
    chosen.texts[0].place,
    'with Redis the workers judge, and ask their guards for the canaries that they name (guardsweep worker --canaries): leave it out, or name no Redis (--redis, REDIS_URL)',
  );
}

/** Resolves the written policy. Failure('usage') if a run on a fleet names one, because its workers name their own. */
async function guardPolicyOf(from: Sources, fleet: boolean): Promise<GuardPolicy | null> {
  const chosen = given(GUARD_POLICY, from);
  if (!fleet || chosen === null) return valueOf(GUARD_POLICY, from);
  throw usageError(
    chosen.texts[0].place,
    'with Redis the workers judge, by the policy that they name (guardsweep worker --guard-policy): leave it out, or name no Redis (--redis, REDIS_URL)',
  );
}

async function unpackLimitsOf(from: Sources): Promise<RunConfig['limits']['unpack']> {
  const { mib, ...limits } = await resolveSettings(UNPACK_SETTINGS, from);
  return { ...limits, bytes: mib * 1024 * 1024 };
}

async function formatsOf(from: Sources): Promise<RunConfig['output']['formats']> {
  const chosen = await valueOf(FORMAT, from);
  // verdicts.jsonl is the record itself, so it is always written.
  return OUTPUT_FORMATS.filter((format) => format === 'jsonl' || chosen.includes(format));
}

/**
 * Resolves the gates. Failure('usage') for a gate without an explicitly named guard: a pipeline must not pass because
 * of the demonstration guard when a variable was not set. The workers of a fleet always name theirs.
 */
async function gatesOf(from: Sources, fleet: boolean): Promise<RunConfig['failIf']> {
  const rates = await resolveSettings(RATE_SETTINGS, from);
  const categories = (await valueOf(CATEGORY_GATES, from)) ?? {};
  const gates = mergeGates(rates, categories, await valueOf(FAIL_IF, from));
  const settings = [FAIL_IF, ...Object.values(RATE_SETTINGS), CATEGORY_GATES];
  const gate = settings.map((setting) => given(setting, from)).find((found) => found !== null) ?? null;
  if (gate !== null && !fleet && given(GUARD, from) === null) {
    throw usageError(
      gate.texts[0].place,
      `a gate needs a guard that is named: --guard grpc://…, GUARD_URL, or --guard ${EMBEDDED_GUARD} for the demonstration guard`,
    );
  }
  return gates;
}

/**
 * Resolves when the job is due. Failure('usage') for a schedule without a time, or without an explicitly named guard:
 * nobody watches at night, so a forgotten variable must not let the demonstration guard judge.
 */
async function scheduleOf(from: Sources): Promise<Schedule | null> {
  const { cron, ...more } = await resolveSettings(SCHEDULE_SETTINGS, from);
  const named = Object.values(SCHEDULE_SETTINGS).map((setting) => given(setting, from));
  const place = named.find((found) => found !== null)?.texts[0].place;
  if (place === undefined) return null;
  if (cron === null) throw usageError(place, 'goes with schedule.cron, which says when the job is due');
  if (given(GUARD, from) === null) {
    throw usageError(
      place,
      `a schedule needs a guard that is named: guard, GUARD_URL, or "${EMBEDDED_GUARD}" for the demonstration guard`,
    );
  }
  return { cron, ...more };
}

async function maxWaitOf(from: Sources, fleet: boolean): Promise<number> {
  if (fleet && given(MAX_WAIT, from) === null)
    return parseDuration({ value: FLEET_MAX_WAIT, place: 'default' });
  return valueOf(MAX_WAIT, from);
}

/** Freezes plain objects and arrays recursively. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

/** The trial requested by `--limit` or `--sample`; null without them. Failure('usage') for both, or a seed alone. */
async function trialOf(from: Sources): Promise<Trial | null> {
  const limit = await valueOf(LIMIT, from);
  const sample = await valueOf(SAMPLE, from);
  const seed = await valueOf(SEED, from);
  const placeOf = (setting: typeof LIMIT | typeof SEED): string => given(setting, from)!.texts[0].place;
  if (limit !== null && sample !== null) {
    throw usageError(placeOf(LIMIT), 'goes without --sample: give one of them');
  }
  if (sample !== null) return { limit: null, sample, seed };
  if (given(SEED, from) !== null) throw usageError(placeOf(SEED), 'goes with --sample only');
  return limit === null ? null : { limit, sample: null, seed: null };
}
