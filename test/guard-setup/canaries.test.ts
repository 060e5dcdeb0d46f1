import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { resolveRunConfig } from '../../src/config/resolve.ts';
import type { Flags } from '../../src/config/settings/given.ts';
import { BUILT_IN_CANARIES } from '../../src/domain/canary/built-in.ts';
import type { CanaryCheck } from '../../src/domain/canary/canary-check.ts';
import { guardOpener } from '../../src/guard-setup/guard-session.ts';
import { readManifest } from '../../src/record/manifest/manifest.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import type { RunResult } from '../../src/runs/run-end.ts';
import { resumeRun, startRun } from '../../src/runs/start-run.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import type { CanaryAnswers } from '../helpers/guards/canary-answers.ts';
import { guard, restGuard } from '../helpers/guards/guard-pool.ts';
import { fingerprintIdOf } from '../helpers/guards/scripted-guard.ts';
import { committedShards, onlyRun, outcomes, until } from '../helpers/run-directory.ts';

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  out = join(folder, 'runs');
  await writeComments(folder, 'a.csv', 20);
});

const never = new AbortController().signal;
const options = {
  keyFile: null,
  drain: never,
  stop: never,
  signingKey: null,
  report: () => {},
  guards: async (config: Parameters<typeof guardOpener>[0]) =>
    guardOpener({ ...config, tls: {}, startWaitMs: 120_000 }, {}),
};

async function configOf(guards: readonly string[], flags: Flags = {}, paths = ['a.csv']) {
  const named = { out, guard: guards, ...flags };
  return (await resolveRunConfig({ paths, flags: named, env: {}, cwd: folder })).config;
}

async function run(guards: readonly string[], flags: Flags = {}, paths = ['a.csv']): Promise<RunResult> {
  return startRun(await configOf(guards, flags, paths), options as never);
}

const resume = (dir: string): Promise<RunResult> =>
  resumeRun(dir, { ...options, retry: false, trusted: true } as never);

async function checksOf(dir: string): Promise<readonly CanaryCheck[]> {
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
  return (await readManifest(dir)).canaries.checks;
}

const texts = BUILT_IN_CANARIES.filter(({ modality }) => modality === 'text');

describe('the built-in canaries', () => {
  it('go to each endpoint before it judges and at the end, and the answers into the manifest', async () => {
    const servers = [await guard(), await guard()];
    const done = await run(servers.map(({ address }) => address));
    expect(servers.map((server) => server.canaries())).toEqual([2 * texts.length, 2 * texts.length]);
    expect(done.summary.items).toBe(20);
    const checks = await checksOf(done.run.dir);
    const judged = new Set((await outcomes(done.run.dir)).map(({ endpoint }) => endpoint));
    expect(new Set(checks.map(({ endpoint }) => endpoint))).toEqual(judged);
    expect(checks).toHaveLength(2 * judged.size);
    const fingerprint = fingerprintIdOf('model-a');
    expect(checks[0]).toMatchObject({ fingerprint, modality: 'text', file: null });
    const answers = texts.map(({ name, expected }) => {
      const flagged = expected === 'flagged';
      const score = expect.closeTo(flagged ? 0.9 : 0.1) as number;
      return { name, expected, score, flagged, passed: true, error: null };
    });
    expect(checks[0]!.answers).toEqual(answers);
  });

  it.each([
    ['flags none', 'flagged none of 4 violating contents: bomb'],
    ['flags all', 'flagged all of 3 harmless contents: museum'],
  ] as const)('stop a run with a guard that %s before there is a run directory', async (answers, said) => {
    const server = await guard({ canaries: () => answers });
    const failed = run([server.address]);
    await expect(failed).rejects.toMatchObject({ kind: 'service', exitStatus: 4 });
    await expect(failed).rejects.toThrow(`${server.address} failed the text canaries (built in): it ${said}`);
    expect(existsSync(out)).toBe(false);
    expect(server.seen).toEqual([]);
  });

  it('also stop a run with a guard over REST, which reports no fingerprint', async () => {
    const server = await restGuard({ canaries: () => 'flags none' });
    await expect(run([server.address])).rejects.toThrow('flagged none of 4');
  });

  it('are asked again when the model changes in mid-run, and no verdict of one that fails is recorded', async () => {
    const chat = { messages: [{ role: 'user', content: 'When does the library open?' }] };
    await writeFile(join(folder, 'b.jsonl'), `${JSON.stringify(chat)}\n`);
    let answers: CanaryAnswers = 'right';
    let isSwapped = false;
    const server = await guard({
      canaries: () => answers,
      // The rows are judged and committed before the first request of the conversation is answered.
      script: async ({ type }) => {
        if (type !== 'multiturn' || isSwapped) return;
        await until(async () => (await committedShards(await onlyRun(out))) > 0, 'the commit of the rows');
        isSwapped = true;
        server.deploy('model-b', '2');
        answers = 'flags none';
      },
    });
    const stopped = run([server.address], {}, ['a.csv', 'b.jsonl']);
    await expect(stopped).rejects.toMatchObject({ kind: 'service' });
    await expect(stopped).rejects.toThrow('it flagged none of 4 violating contents');
    const dir = await onlyRun(out);
    for (const name of ['manifest', 'summary']) expect(existsSync(join(dir, `${name}.json`))).toBe(false);

    answers = 'right';
    server.deploy('model-c', '3');
    const done = await resume(dir);
    expect(done.summary).toMatchObject({ status: 'finished', items: 21, errors: 0 });
    const models = ['model-a', 'model-c'].map(fingerprintIdOf);
    expect(new Set((await outcomes(dir)).map(({ fingerprint }) => fingerprint))).toEqual(new Set(models));
    expect((await checksOf(dir)).map(({ fingerprint }) => fingerprint)).toEqual([...models, models[1]]);
  });

  it('stop a run at its end when the guard no longer passes, though its model is the same', async () => {
    let answers: CanaryAnswers = 'right';
    const server = await guard({ canaries: () => answers, script: () => void (answers = 'flags none') });
    const stopped = run([server.address]);
    await expect(stopped).rejects.toMatchObject({ kind: 'service', exitStatus: 4 });
    await expect(stopped).rejects.toThrow('it flagged none of 4 violating contents');
    const dir = await onlyRun(out);
    expect(existsSync(join(dir, 'manifest.json'))).toBe(false);
    await expect(resume(dir)).rejects.toMatchObject({ exitStatus: 4 });
    answers = 'right';
    expect((await resume(dir)).summary).toMatchObject({ status: 'finished', items: 20 });
    expect(await checksOf(dir)).toHaveLength(2);
  });

  it('are left out with --canaries off, as the manifest says', async () => {
    const server = await guard({ canaries: () => 'flags none' });
    const done = await run([server.address], { canaries: 'off' });
    expect(server.canaries()).toBe(0);
    expect(await checksOf(done.run.dir)).toEqual([]);
    expect((await readManifest(done.run.dir)).canaries).toEqual({ from: 'off', checks: [] });
  });
});

describe('canaries of a file', () => {
  const file = async (...canaries: string[]): Promise<string> => {
    await writeFile(join(folder, 'own.yaml'), canaries.join('\n'));
    return 'own.yaml';
  };
  const [, , meeting, bomb] = texts.map(({ text }) => text!);
  const asked = (name: string, text: string | undefined, expected: string) =>
    `- {name: ${name}, modality: text, text: "${text}", expect: ${expected}}`;

  it('must all be as expected', async () => {
    const server = await guard();
    const good = await file(asked('one', meeting, 'allowed, max_score: 0.2'));
    const passed = await run([server.address], { canaries: good });
    const answers = [{ name: 'one', passed: true }];
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    expect(await checksOf(passed.run.dir)).toMatchObject([{ file: hash, answers }, { answers }]);
    const bad = await file(
      asked('one', meeting, 'allowed'),
      asked('two', bomb, 'flagged, category: privacy'),
      asked('three', bomb, 'allowed'),
    );
    const says = /failed the text canaries \(of --canaries\): it got 2 of 3 wrong: two .*, three /;
    await expect(run([server.address], { canaries: bad })).rejects.toThrow(says);
  });

  const unknown = /own\.yaml:1:\d+: "expects" is not a known key of \[0\]; did you mean expect\?/;
  it.each([
    ['text, text: x, expects: flagged', unknown],
    ['image, expect: flagged', /canary "a": needs a file/],
  ])('are refused with the place of a mistake: %s', async (rest, message) => {
    const own = await file(`- {name: a, modality: ${rest}}`);
    await expect(configOf(['grpc://127.0.0.1:1'], { canaries: own })).rejects.toThrow(message);
  });

  it('must be the same when the run is resumed', async () => {
    const own = await file(asked('one', meeting, 'allowed'));
    const server = await guard({ script: () => ({ code: 14, details: 'gone' }) });
    const config = await configOf([server.address], { canaries: own, maxWait: '1s' });
    await expect(startRun(config, options as never)).rejects.toMatchObject({ kind: 'service' });
    await file(asked('one', bomb, 'flagged'));
    const says = 'is not the file of canaries that the run was created with';
    await expect(resume(await onlyRun(out))).rejects.toThrow(says);
  });
});
