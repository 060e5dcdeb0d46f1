import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasMarker } from '../../../src/runs/control/control-files.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { type TestRedis, redisForTest } from '../../helpers/redis/redis.ts';
import { newRun } from '../../record/run-fixture.ts';
import { typed } from '../terminal.ts';

it.each([
  ['run.json', '{', /not a run directory/],
  ['plan.jsonl', 'no plan\n{}\n', /plan/],
])('status of many runs shows the others when %s of one is damaged', async (file, text, problem) => {
  const { dir, record } = await newRun();
  const out = dirname(dir);
  const other = join(out, '20261121T030000Z-other-cd34');
  await mkdir(join(other, 'log'), { recursive: true });
  const sound = await newRun();
  const json = JSON.stringify({ ...sound.record, run: '20261121T030000Z-other-cd34' });
  await writeFile(join(other, 'run.json'), file === 'run.json' ? text : json);
  if (file !== 'run.json') await writeFile(join(other, file), text);
  const { status, stdout } = await typed(['status', '--out', out]);
  expect(status).toBe(0);
  const [first, second] = stdout.split('\n');
  expect(first).toMatch(/^20261121T030000Z-other-cd34: unreadable; /);
  expect(first).toMatch(problem);
  expect(second).toContain(`${record.run}: stopped`);
  const listed = JSON.parse((await typed(['status', '--out', out, '--json'])).stdout) as unknown[];
  expect(listed).toMatchObject([{ state: 'unreadable', dir: other }, { state: 'stopped' }]);
  expect((await typed(['status', other])).status).not.toBe(0);
});

describe('a run', () => {
  it('may be named by its name alone where the output folder holds it', async () => {
    const { dir, record } = await newRun();
    const name = record.run;
    const cwd = await temporaryFolder();
    const runs = join(cwd, 'runs');
    await cp(dir, join(runs, name), { recursive: true });
    const context = { cwd };
    const given: string[] = [];
    const note = async (runDir: string): Promise<number> => {
      given.push(runDir);
      return 0;
    };
    for (const command of ['resume', 'retry', 'verify']) {
      await typed([command, name], { context, runs: { resume: note, retry: note, verify: note } });
    }
    expect(given).toEqual([1, 2, 3].map(() => join(runs, name)));
    expect((await typed(['pause', name], { context })).status).toBe(0);
    expect(await hasMarker(join(runs, name), 'paused')).toBe(true);
    expect((await typed(['continue', name], { context })).status).toBe(0);
    expect((await typed(['cancel', name], { context })).status).toBe(0);
    expect((await typed(['status', name], { context })).stdout).toContain(`${name}: cancelled`);
  });

  it('that is not there is told with what to type', async () => {
    for (const command of ['pause', 'continue', 'cancel', 'status']) {
      expect(await typed([command, 'nightly'])).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(/not a run directory.*type the path that enqueue printed/) as string,
      });
    }
  });
});

describe('doctor, of a Redis', () => {
  const redisCheck = async (url: string): Promise<unknown> => {
    const env = { PATH: process.env['PATH'], REDIS_URL: url };
    const checks = JSON.parse((await typed(['doctor', '--json'], { context: { env } })).stdout) as {
      what: string;
    }[];
    expect(checks.filter(({ what }) => what.startsWith('guard'))).toEqual([]);
    return checks.find(({ what }) => what.startsWith('Redis'));
  };
  const started = async (...settings: string[]): Promise<TestRedis> => redisForTest({ settings, tcp: true });

  it('says that it is there', async () => {
    const redis = await redisForTest();
    expect(await redisCheck(redis.url)).toMatchObject({ ok: true, todo: null });
  });

  it('says in words what is wrong with it, and what to do', async () => {
    const wrong: readonly (readonly [url: string, found: RegExp])[] = [
      [(await started('--requirepass', 'secret')).url, / wants a password/],
      [
        (await started('--requirepass', 'secret')).url.replace('//', '//:wrong@'),
        / does not accept the user or password/,
      ],
      [(await started('--maxmemory-policy', 'allkeys-lru')).url, / has maxmemory-policy allkeys-lru/],
    ];
    for (const [url, found] of wrong) {
      expect(await redisCheck(url)).toMatchObject({
        ok: false,
        what: expect.stringMatching(/^Redis at redis:\/\/127\.0\.0\.1:\d+ \(REDIS_URL\)$/) as string,
        found: expect.stringMatching(found) as string,
        todo: 'docs/fleet.md lists the requirements',
      });
    }
  });
});
