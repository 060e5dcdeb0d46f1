import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { RunConfig } from '../../src/config/run-config.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { EndpointStatus } from '../../src/guard/endpoint/endpoint-status.ts';
import type { GuardSession } from '../../src/guard/pool/guard-session.ts';
import type { GuardPool } from '../../src/guard/pool/pool.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import type { RunEvent } from '../../src/runs/run-events.ts';
import { resumeRun, startRun, type JudgeRunOptions } from '../../src/runs/start-run.ts';
import { folderWith } from '../helpers/cli.ts';
import { createdRun, judge, never, rows } from './small-run.ts';

let config: RunConfig;

/** A session whose one guard judges as `by` does; counts the calls of close. */
function sessionOf(
  by: Judge,
  state: EndpointStatus['state'],
  notJudged: GuardPool['notJudged'] = async () => null,
): GuardSession & { closed: number } {
  const status = [{ name: 'grpc://one:8001', state } as EndpointStatus];
  const pool: GuardPool = {
    judge: async (requests, options) => [...(await by.judge(requests, options))],
    notJudged,
    openStream: () => Promise.reject(new Error('not asked for')),
    fingerprints: by.fingerprints,
    canaries: [],
    checkAgain: async () => undefined,
    readModels: async () => [...by.fingerprints.keys()],
    status: () => status,
    waiting: 0,
    onStateChange: () => () => undefined,
    close: async () => undefined,
  };
  return {
    pool,
    died: never,
    closed: 0,
    async close() {
      this.closed++;
    },
  };
}

/** Options under which opening the guards returns `session`, and the events that were reported. */
function optionsFor(session: GuardSession | Failure): { options: JudgeRunOptions; events: RunEvent[] } {
  const events: RunEvent[] = [];
  const open = async (): Promise<GuardSession> => {
    if (session instanceof Failure) throw session;
    return session;
  };
  const options = {
    keyFile: null,
    drain: never,
    stop: never,
    signingKey: null,
    guards: async () => open,
    report: (event: RunEvent) => void events.push(event),
  };
  return { options, events };
}

const ready = { name: 'ready' } as EndpointStatus['state'];
const kinds = (events: readonly RunEvent[]): string[] => events.map(({ kind }) => kind);

beforeEach(async () => {
  const folder = await folderWith({ 'uploads/a.csv': rows('a', 0, 25) });
  ({ config } = (await createdRun(folder)).record);
  config = { ...config, output: { ...config.output, dir: join(folder, 'others') } };
});

it('a run is started, resumed and retried without a terminal', async () => {
  const dying = sessionOf(judge({ answers: 10 }), ready);
  const first = optionsFor(dying);
  await expect(startRun(config, first.options)).rejects.toMatchObject({ kind: 'service' });
  expect(kinds(first.events)).toEqual(['created', 'begun', 'judging']);
  expect(dying.closed).toBe(1);
  const { dir } = (first.events[1] as RunEvent & { kind: 'created' }).run;

  const out = { name: 'out', reason: 'no connection' } as EndpointStatus['state'];
  const flaky = sessionOf(
    judge({ refuse: (request) => ('text' in request && request.text === 'text 24' ? 'TIMEOUT' : null) }),
    out,
  );
  const second = optionsFor(flaky);
  const resumed = await resumeRun(dir, { ...second.options, retry: false, trusted: true });
  expect(resumed).toMatchObject({ worked: true, end: 'not-judged', run: { dir }, summary: { errors: 1 } });
  expect(kinds(second.events)).toEqual(['notice', 'begun', 'judging', 'guard-out']);
  expect(flaky.closed).toBe(1);

  const third = optionsFor(sessionOf(judge(), ready));
  const retried = await resumeRun(dir, { ...third.options, retry: true, trusted: true });
  expect(retried).toMatchObject({ worked: true, end: 'complete', summary: { errors: 0, pass: 2 } });

  const fourth = optionsFor(new Failure('service', 'not asked'));
  const again = await resumeRun(dir, { ...fourth.options, retry: false, trusted: true });
  expect(again).toMatchObject({ worked: false, end: 'complete' });
});
