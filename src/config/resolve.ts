import { stat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { DEFAULT_POLICY, type Policy } from '../domain/policy.ts';
import { afterFinishOf, type AfterFinish, type AfterFinishFlags } from './after-finish.ts';
import { parseDuration } from './values/duration.ts';
import { parseFingerprintId } from './values/fingerprint-id.ts';
import { deepFreeze } from './freeze.ts';
import { parseGate } from './job-file/gates.ts';
import { EMBEDDED_GUARD, guardUrlsOf, parseGuardUrls } from './values/guard-url.ts';
import { keyName } from './yaml/check-shape.ts';
import { isJobFile, readJobFile, type JobFile } from './job-file/job-file.ts';
import { mistake, oneOf, quoted, type Located } from './mistake.ts';
import { readPolicyFile } from './job-file/policy-file.ts';
import { parseRunName, runNameOf } from './values/run-name.ts';
import { judgingOf, type JudgingFlags } from './job-file/judging.ts';
import { DEFAULT_LIMITS, OUTPUT_FORMATS, type OutputFormat, type RunConfig } from './run-config.ts';
import { resolveSource, type SourceGiven } from './job-file/source-config.ts';
import type { KeyPath } from './yaml/yaml-file.ts';

/** Flags of `enqueue` as typed; absent ones were not given. */
export interface Flags extends JudgingFlags, AfterFinishFlags {
  readonly name?: string;
  readonly out?: string;
  readonly guard?: readonly string[];
  readonly policy?: string;
  readonly format?: string;
  readonly textColumn?: readonly string[];
  readonly idColumn?: string;
  readonly encoding?: string;
  readonly layout?: string;
  readonly header?: string;
  readonly audit?: string;
  readonly expectFingerprint?: string;
  readonly maxWait?: string;
  readonly allowErrors?: boolean;
  readonly allowEmpty?: boolean;
  readonly failIf?: readonly string[];
}

const DEFAULT_DIR = 'runs';
const DEFAULT_MAX_WAIT_MS = 10 * 60_000;
const DEFAULT_FLEET_MAX_WAIT_MS = 2 * 3_600_000;

interface Input {
  readonly paths: readonly string[];
  readonly flags: Flags;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute folder that paths on the command line are relative to. */
  readonly cwd: string;
  /** Whether a fleet judges the run: then it needs no guard of its own, and waits longer for one. */
  readonly fleet?: boolean;
}

/** A setting that was given in the job file, with its place there. */
function inJob<T>(file: JobFile, path: KeyPath, value: T | undefined): Located<T> | undefined {
  return value === undefined ? undefined : { value, place: `${file.yaml.valueAt(path)}: ${keyName(path)}` };
}

function inFlag<T>(flag: string, value: T | undefined): Located<T> | undefined {
  return value === undefined ? undefined : { value, place: flag };
}

const listOf = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value;

/** The one job file among the arguments; null when they are paths. */
async function jobOf({ paths, cwd }: Input): Promise<JobFile | null> {
  if (paths.length === 0)
    throw new Failure('usage', 'name at least one file, folder or glob, or one job file');
  const jobFiles = paths.filter(isJobFile);
  const [path] = jobFiles;
  if (path === undefined) return null;
  if (jobFiles.length > 1) throw mistake(jobFiles[1]!, 'only one job file at a time');
  if (paths.length > 1) {
    throw mistake(path, 'a job file names its own sources; give either it or paths');
  }
  return readJobFile(path, cwd);
}

function sourcesOf({ paths, flags }: Input, file: JobFile | null): SourceGiven[] {
  const forced = {
    textColumns: inFlag('--text-column', flags.textColumn),
    idColumn: inFlag('--id-column', flags.idColumn),
    audit: inFlag('--audit', flags.audit),
    encoding: inFlag('--encoding', flags.encoding),
    layout: inFlag('--layout', flags.layout),
    header: inFlag('--header', flags.header),
  };
  if (file === null) {
    return paths.map((path) => ({ path: { value: path, place: 'argument' }, ...forced }));
  }
  return file.job.sources.map((source, index) => {
    const given = <T>(key: string, value: T | undefined) => inJob(file, ['sources', index, key], value);
    return {
      path: given('path', source.path)!,
      textColumns:
        forced.textColumns ?? given('text', source.text === undefined ? undefined : listOf(source.text)),
      idColumn: forced.idColumn ?? given('id', source.id),
      audit: forced.audit ?? given('audit', source.audit),
      encoding: forced.encoding ?? given('encoding', source.encoding),
      layout: forced.layout ?? given('layout', source.layout),
      header: forced.header ?? given('header', source.header),
    };
  });
}

/** The guards that a flag or the job file names; null when neither does. */
function chosenGuards({ flags }: Input, file: JobFile | null): readonly Located<string>[] | null {
  const flagged = flags.guard?.map((value) => ({ value, place: '--guard' }));
  const guard = file?.job.guard;
  const inFile =
    guard === undefined
      ? null
      : listOf(guard).map((url, index) =>
          inJob(file!, Array.isArray(guard) ? ['guard', index] : ['guard'], url)!,
        );
  return flagged ?? inFile;
}

/** The guards that somebody named; null when nobody did. */
function namedGuards(input: Input, file: JobFile | null): readonly Located<string>[] | null {
  return chosenGuards(input, file) ?? guardUrlsOf(input.env);
}

/**
 * Failure('usage') for a guard that is chosen for a run which the workers of a fleet judge, through guards of their own.
 * `GUARD_URL` is no such choice: it is there for all processes of a machine.
 */
function guardsOf(input: Input, file: JobFile | null): string[] {
  const chosen = input.fleet === true ? chosenGuards(input, file) : null;
  if (chosen?.[0] !== undefined) {
    throw mistake(
      chosen[0].place,
      'with Redis the workers judge, through the guards that they name (guardsweep worker --guard): leave it out, or name no Redis (--redis, REDIS_URL)',
    );
  }
  const byDefault = input.fleet === true ? [] : [{ value: EMBEDDED_GUARD, place: 'default' }];
  return parseGuardUrls(namedGuards(input, file) ?? byDefault);
}

async function policyOf({ flags, cwd }: Input, file: JobFile | null): Promise<Policy> {
  const flagged = inFlag('--policy', flags.policy);
  if (flagged !== undefined) return readPolicyFile(resolve(cwd, flagged.value), flagged);
  const named = file && inJob(file, ['policy'], file.job.policy);
  if (!named) return { ...DEFAULT_POLICY };
  const absolute = resolve(file.folder, named.value);
  return readPolicyFile(absolute, { value: relative(cwd, absolute), place: named.place });
}

async function outputDirOf({ flags, cwd }: Input, file: JobFile | null): Promise<string> {
  const flagged = inFlag('--out', flags.out);
  const given = flagged ?? (file && inJob(file, ['output', 'dir'], file.job.output?.dir));
  if (given?.value === '') throw mistake(given.place, 'the path is empty');
  const absolute = resolve(flagged === undefined && given ? file!.folder : cwd, given?.value ?? DEFAULT_DIR);
  // The folder may still have to be made: then what is to hold it must be one.
  for (let path = absolute; ; path = dirname(path)) {
    const found = await stat(path).catch(() => null);
    if (found === null && path !== dirname(path)) continue;
    if (found?.isDirectory() === true) return absolute;
    throw mistake(given?.place ?? 'output folder', `${quoted(path)} is not a folder`);
  }
}

function formatsOf({ flags }: Input, file: JobFile | null): OutputFormat[] {
  const given =
    flags.format
      ?.split(',')
      .map((word) => oneOf(OUTPUT_FORMATS, { value: word.trim(), place: '--format' })) ??
    file?.job.output?.formats ??
    OUTPUT_FORMATS;
  // verdicts.jsonl is the record itself, so it is always written.
  return OUTPUT_FORMATS.filter((format) => format === 'jsonl' || given.includes(format));
}

/**
 * Failure('usage') for a gate without a guard that somebody named: a pipeline must not be let through by the
 * demonstration guard because a variable was not set. The workers of a fleet always name theirs.
 */
function gatesOf(input: Input, file: JobFile | null): RunConfig['failIf'] {
  const { flags, fleet = false } = input;
  const fromFile = file?.job.failIf;
  const gates = { flaggedRate: fromFile?.flaggedRate ?? null, errorRate: fromFile?.errorRate ?? null };
  for (const value of flags.failIf ?? []) {
    const [gate, rate] = parseGate({ value, place: '--fail-if' });
    gates[gate] = rate;
  }
  const isGate = gates.flaggedRate !== null || gates.errorRate !== null;
  if (isGate && !fleet && namedGuards(input, file) === null) {
    const flagged = inFlag('--fail-if', flags.failIf);
    const { place } = flagged ?? inJob(file!, ['failIf'], fromFile)!;
    throw mistake(
      place,
      `a gate needs a guard that is named: --guard grpc://…, GUARD_URL, or --guard ${EMBEDDED_GUARD} for the demonstration guard`,
    );
  }
  return gates;
}

/**
 * Joins paths or a job file, flags and environment into the frozen configuration of a run: flags win over the job
 * file, the environment (`GUARD_URL`) fills what both leave open, defaults the rest. Reads the job file and the
 * policy, writes nothing but an empty head file. `givenMaxWaitMs` is how long somebody said to wait for guards, null when nobody did;
 * `afterFinish` is no part of the frozen configuration. Failure('usage') with one line that names the place of the first mistake.
 */
export async function resolveRunConfig(input: Input): Promise<{
  readonly config: RunConfig;
  readonly givenMaxWaitMs: number | null;
  readonly afterFinish: AfterFinish;
}> {
  const { flags, cwd } = input;
  const file = await jobOf(input);
  const setting = <T>(flag: string, flagged: T | undefined, key: string, value: T | undefined) =>
    inFlag(flag, flagged) ?? (file === null ? undefined : inJob(file, [key], value));

  const name = setting('--name', flags.name, 'name', file?.job.name);
  const maxWait = setting('--max-wait', flags.maxWait, 'maxWait', file?.job.maxWait);
  const expected = setting(
    '--expect-fingerprint',
    flags.expectFingerprint,
    'expectFingerprint',
    file?.job.expectFingerprint,
  );
  const sources = [];
  for (const given of sourcesOf(input, file)) sources.push(await resolveSource(given, file?.folder ?? cwd));

  const givenMaxWaitMs = maxWait === undefined ? null : parseDuration(maxWait);
  const config = deepFreeze<RunConfig>({
    name: name === undefined ? runNameOf(input.paths[0]!) : parseRunName(name),
    sources,
    guards: guardsOf(input, file),
    expectFingerprint: expected === undefined ? null : parseFingerprintId(expected),
    policy: await policyOf(input, file),
    output: { dir: await outputDirOf(input, file), formats: formatsOf(input, file) },
    failIf: gatesOf(input, file),
    allowEmpty: flags.allowEmpty ?? file?.job.allowEmpty ?? false,
    allowErrors: flags.allowErrors ?? file?.job.allowErrors ?? false,
    maxWaitMs: givenMaxWaitMs ?? (input.fleet === true ? DEFAULT_FLEET_MAX_WAIT_MS : DEFAULT_MAX_WAIT_MS),
    judging: judgingOf(flags, file),
    limits: { ...DEFAULT_LIMITS },
  });
  return { config, givenMaxWaitMs, afterFinish: await afterFinishOf(flags, input, file) };
}
