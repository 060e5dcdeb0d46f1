import { setMaxListeners } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { resolveRunConfig } from '../../../src/config/resolve.ts';
import type { Flags } from '../../../src/config/settings/given.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import type { Execution } from '../../../src/guard-server/contract/model.ts';
import { startGuardServer } from '../../../src/guard-server/server.ts';
import { connectGuards } from '../../../src/guard/pool/connect-guards.ts';
import type { GuardSession } from '../../../src/guard/pool/guard-session.ts';
import type { RunResult } from '../../../src/runs/run-end.ts';
import { startRun, type JudgeRunOptions } from '../../../src/runs/start-run.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { findRestriction } from '../../../src/domain/restriction/restriction.ts';
import { folderWith } from '../../helpers/cli.ts';
import { outcomes, comparable } from '../../helpers/run-directory.ts';
import { startRestGuard } from '../../helpers/guards/rest-guard.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

interface Scan extends RunResult {
  readonly lines: readonly OutcomeLine[];
  /** What the guard was asked for. */
  readonly taken: readonly string[];
}

const rows = (...texts: readonly string[]): string =>
  `id,text\n${texts.map((text, row) => `r${row},${text}\n`).join('')}`;

/** A folder of uploads, a table of these texts, that is scanned again and again, by one guard and into one output folder. */
async function siteWith(...texts: readonly string[]) {
  const judged: string[] = [];
  const synthetic = {
    serviceTime: 'zero',
    observe: ({ requests }: Execution): void => {
      for (const { strings } of requests) judged.push(...(strings.get('TEXT') ?? []).map(String));
    },
  } as const;
  const server = await startGuardServer({ model: 'synthetic', grpcPort: 0, synthetic });
  onTestFinished(() => server.close());
  const folder = await folderWith({ 'uploads/a.csv': rows(...texts) });
  /** Scans the uploads and checks the record. */
  const scan = async (flags: Flags = {}, options: Partial<JudgeRunOptions> = {}): Promise<Scan> => {
    const given = { guard: ['grpc://gpu-1:8001'], ...flags };
    const { config } = await resolveRunConfig({ paths: ['uploads'], cwd: folder, env: {}, flags: given });
    const result = await startRun(config, {
      keyFile: null,
      drain: never,
      stop: never,
      signingKey: null,
      report: () => undefined,
      guards: async () => () => sessionWith(server.address),
      ...options,
    });
    expect(await verifyRun(result.run.dir, {})).toMatchObject({ ok: true });
    return { ...result, lines: await outcomes(result.run.dir), taken: judged.splice(0).sort() };
  };
  return { folder, table: join(folder, 'uploads/a.csv'), server, scan };
}

/** Guards that a run is judged by, without the checks of a command's start. */
async function sessionWith(address: string): Promise<GuardSession> {
  const options = { expectFingerprint: null, maxWaitMs: 120_000 };
  const pool = await connectGuards([{ name: address, address }], options, never);
  return { pool, died: never, close: () => pool.close() };
}

describe('a second run', () => {
  it('judges nothing, and its lines are those of the first but for where the verdicts are from', async () => {
    const { scan } = await siteWith('one', 'two', 'three');
    const first = await scan();
    const second = await scan();
    expect(second.taken).toEqual([]);
    expect(second.summary).toMatchObject({ verdicts: 3, reused: 3, by_decision: first.summary.by_decision });
    expect(second.lines.map((line) => line.reused_from)).toEqual(Array(3).fill(first.run.record.run));
    const origins = ({ lines }: Scan) => lines.map(({ moderated_at: at, endpoint }) => [at, endpoint]);
    expect(origins(second)).toEqual(origins(first));
    expect(comparable(second.lines)).toEqual(comparable(first.lines));
  });

  it('judges everything when it is told not to reuse, and leaves its verdicts to a third', async () => {
    const { scan } = await siteWith('one', 'two', 'two');
    await scan();
    const second = await scan({ noReuse: true });
    expect(second.taken).toEqual(['one', 'two', 'two']);
    expect(second.summary).toMatchObject({ reused: 0 });
    const third = await scan();
    expect(third.taken).toEqual([]);
    expect(new Set(third.lines.map((line) => line.reused_from))).toEqual(new Set([second.run.record.run]));
  });

  it('with other options judges again, and with another policy decides again', async () => {
    const { folder, scan } = await siteWith('one', 'two');
    await writeFile(join(folder, 'strict.yaml'), 'thresholds: { default: { review: 0, block: 0 } }\n');
    await scan();
    for (const other of [{ longAudio: 'truncate' }, { videoInterval: '3' }, { videoFrames: '2' }])
      expect((await scan(other)).taken).toEqual(['one', 'two']);
    const strict = await scan({ policy: 'strict.yaml' });
    expect(strict.taken).toEqual([]);
    expect(strict.summary).toMatchObject({ reused: 2, by_decision: { block: 2 } });
  });

  it('reuses no verdict of another model than the one that it expects', async () => {
    const { server, scan } = await siteWith('one');
    await scan();
    const { id } = server.synthetic!.swapVersion();
    await scan();
    const third = await scan({ expectFingerprint: id });
    expect(third.taken).toEqual([]);
    expect(third.lines[0]).toMatchObject({ fingerprint: id });
  });

  it.each([
    ['before the run begins', 0, 0],
    ['before its first verdict is looked up', 1, 0],
    ['after its verdicts were looked up', 2, 0],
    ['after they were confirmed', 3, 1],
  ])('of a guard whose model changes %s reuses what the model of that time has judged', async (...given) => {
    const [, when, reused] = given;
    const { table, server, scan } = await siteWith('one');
    const first = await scan();
    await writeFile(table, rows('one', 'new'));
    const { synthetic } = server;
    const changing = async () => {
      const session = await sessionWith(server.address);
      const { pool } = session;
      let readings = 0;
      const readModels = pool.readModels.bind(pool);
      pool.readModels = async (signal) => {
        if (++readings === when) synthetic!.swapVersion();
        const read = await readModels(signal);
        if (readings === 2 && when === 3) synthetic!.swapVersion();
        return read;
      };
      if (when === 0) synthetic!.swapVersion();
      return session;
    };
    const second = await scan({}, { guards: async () => changing });
    expect(second.summary).toMatchObject({ verdicts: 2, reused });
    expect(new Set(second.lines.map((line) => line.fingerprint)).size).toBe(reused + 1);
    expect(second.lines[0]!.fingerprint === first.lines[0]!.fingerprint).toBe(reused === 1);
    expect(second.lines[1]!.fingerprint).toBe(synthetic!.fingerprint.id);
    const from = second.summary.reused_from.map(({ run }) => run);
    expect(from).toEqual(reused === 1 ? [first.run.record.run] : []);
  });

  it('of a guard over REST, which reports no version, judges everything', async () => {
    const rest = await startRestGuard();
    onTestFinished(() => rest.kill());
    const { scan } = await siteWith('one', 'two', 'one');
    const guards = async () => () => sessionWith(rest.address);
    for (const calls of [3, 6]) {
      const { summary } = await scan({}, { guards });
      expect(summary).toMatchObject({ verdicts: 3, reused: 0 });
      expect(rest.seen).toHaveLength(calls);
    }
    // What another guard has judged is not taken for this one's either.
    await scan();
    expect((await scan({}, { guards })).summary).toMatchObject({ reused: 0 });
  });
});

const COUNT = 40;
const THRESHOLDS = { default: { review: 0.3, block: 0.6 } };
const HALF = { ...DEFAULT_POLICY, thresholds: THRESHOLDS };
const WITH = { includeContent: true, policy: 'half.yaml' };

/** Every line to review or block, unless it is restricted, holds its text, and no other does. */
function expectSnippets({ lines, summary }: Scan): void {
  expect(lines).toHaveLength(COUNT + 1);
  const { allow, review, block } = summary.by_decision;
  expect(allow * review * block).toBeGreaterThan(0);
  for (const line of lines) {
    const isHeld = line.decision !== 'allow' && findRestriction(HALF, line) === null;
    expect([line.seq, line.snippet]).toEqual([line.seq, isHeld ? `marker number ${line.seq % COUNT}` : null]);
  }
}

it('outcomes hold a piece of what is to review or block, judged and reused', async () => {
  const texts = Array.from({ length: COUNT }, (_, row) => `marker number ${row}`);
  const { scan, folder } = await siteWith(...texts, 'marker number 0');
  await writeFile(join(folder, 'half.yaml'), JSON.stringify({ thresholds: THRESHOLDS }));
  const plain = await scan({ policy: 'half.yaml' });
  expect(plain.lines.map(({ snippet }) => snippet)).toEqual(Array(COUNT + 1).fill(null));
  expect(await readFile(join(plain.run.dir, 'flagged.csv'), 'utf8')).not.toContain('marker');

  const again = await scan(WITH);
  expect(again.summary).toMatchObject({ reused: COUNT + 1 });
  expectSnippets(again);
  const fresh = await scan({ ...WITH, store: join(folder, 'other') });
  expect(fresh.summary).toMatchObject({ reused: 0 });
  expectSnippets(fresh);
  const table = await readFile(join(fresh.run.dir, 'flagged.csv'), 'utf8');
  for (const { snippet } of fresh.lines) if (snippet !== null) expect(table).toContain(`,${snippet},`);

  const without = await scan({ policy: 'half.yaml' });
  expect(without.lines.every(({ snippet }) => snippet === null)).toBe(true);
});
