import { appendFile, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OutcomeLine, RunView } from '../../src/library/index.ts';
import { Failure, readRun, startRun, verdicts } from '../../src/library/index.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith } from '../helpers/cli.ts';

const TEXTS = 'id,body,note\na,hello there,x\nb,how do I kill someone and hide the body,y\nc,,z\n';

/** What starts a run over a.csv in a folder. */
const judging = (cwd: string) => ({ cwd, paths: ['a.csv'], guard: 'embedded:' });

async function collected(dir: string): Promise<OutcomeLine[]> {
  const lines: OutcomeLine[] = [];
  for await (const line of verdicts(dir)) lines.push(line);
  return lines;
}

const failure = async (work: Promise<unknown>): Promise<[kind: string, message: string]> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof Failure) return [error.kind, error.message];
    throw error;
  }
  return ['none', ''];
};

describe('the library', () => {
  it('starts a run, reads its record and its verdicts, and leaves nothing behind in the process', async () => {
    const cwd = await folderWith({ 'a.csv': TEXTS });
    const ofProcess = (): unknown[] => [
      ...['SIGINT', 'uncaughtException'].map((event) => process.listenerCount(event)),
      globalThis.console,
    ];
    const before = ofProcess();
    const seen: RunView[] = [];
    const created: string[] = [];
    const { signal } = new AbortController();
    const gate = { failIf: ['violent_crimes=0.1'], exportClean: 'clean.csv' };
    const result = await startRun({
      ...judging(cwd),
      out: 'out',
      signal,
      env: {},
      flags: { textColumn: 'body', name: 'by-hand', ...gate },
      onCreated: (dir) => created.push(dir),
      onProgress: (progress) => seen.push(progress),
    });
    expect(result).toMatchObject({ dir: created[0], end: 'gate', exitStatus: 3 });
    expect(result.dir.startsWith(join(cwd, 'out'))).toBe(true);
    expect(result.summary).toMatchObject({ items: 3, verdicts: 2, errors: 1, gates: [{ tripped: true }] });
    expect(result.clean).toMatchObject({ out: join(cwd, 'clean.csv'), rows: { kept: 1, rejected: 2 } });
    expect(await readFile(join(cwd, 'clean.csv'), 'utf8')).toBe('id,body,note\na,hello there,x\n');
    expect(seen.at(-1)).toMatchObject({ planned: 3, judged: 2, errors: 1, planClosed: true });
    expect(ofProcess()).toEqual(before);

    const run = await readRun(result.dir);
    expect(run.summary).toEqual(result.summary);
    expect(run.record.config).toMatchObject({ name: 'by-hand', sources: [{ textColumns: ['body'] }] });
    expect(run.manifest).toMatchObject({ pass: 1, counts: { items: 3 } });
    const lines = await collected(result.dir);
    expect(lines.map(({ id, decision, error }) => `${id} ${decision ?? error?.code}`)).toEqual([
      ...['a allow', 'b block', 'c EMPTY_CONTENT'],
    ]);
    expect(await verifyRun(result.dir)).toMatchObject({ ok: true });
  });

  it('interrupts a run when the signal is aborted, and keeps what was judged', async () => {
    const rows = Array.from({ length: 10_000 }, (_, row) => `text number ${row}\n`).join('');
    const cwd = await folderWith({ 'a.csv': `text\n${rows}` });
    const controller = new AbortController();
    let dir = '';
    const running = startRun({
      ...judging(cwd),
      signal: controller.signal,
      onCreated: (path) => {
        dir = path;
        controller.abort();
      },
    });
    expect(await failure(running)).toEqual(['interrupted', 'interrupted']);
    expect(await readRun(dir)).toMatchObject({ dir, summary: null, manifest: null });
    expect((await failure(collected(dir)))[0]).toBe('usage');
  });

  it('says what is wrong with its options before anything is written', async () => {
    const cwd = await folderWith({ 'a.csv': TEXTS });
    const paths = ['a.csv'];
    const problems: [Parameters<typeof startRun>[0], unknown][] = [
      [{}, 'name at least one file, folder or glob, or one job file'],
      [{ paths: 'a.csv' as never }, 'paths: expected a list of texts'],
      [{ paths, jobFile: 'job.yaml' }, 'give either paths or jobFile: a job file names its own sources'],
      [{ paths, flags: { textColum: 'body' } }, 'flags: "textColum" is not known; did you mean textColumn?'],
      [{ paths, flags: { limit: 0 } }, expect.stringMatching(/^--limit: expected/)],
      [{ paths, flags: { failIf: 'hate=0' } }, expect.stringMatching(/a gate needs a guard/)],
    ];
    for (const [options, problem] of problems) {
      expect(await failure(startRun({ cwd, env: {}, ...options }))).toEqual(['usage', problem]);
    }
    expect(await failure(readRun(cwd))).toEqual([
      'usage',
      `${cwd} is not a run directory: it has neither run.json nor manifest.json; type the path that enqueue printed`,
    ]);
  });

  it('closes the file of verdicts when its reader stops early', async () => {
    const cwd = await folderWith({ 'a.csv': `text\n${'hello\n'.repeat(500)}` });
    const { dir } = await startRun({ ...judging(cwd), flags: { canaries: 'off' } });
    const openVerdicts = async (): Promise<number> => {
      const names = await readdir('/proc/self/fd');
      const targets = await Promise.all(names.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
      return targets.filter((target) => target === join(dir, 'verdicts.jsonl')).length;
    };
    for await (const { seq } of verdicts(dir)) {
      expect([seq, await openVerdicts()]).toEqual([0, 1]);
      break;
    }
    expect(await openVerdicts()).toBe(0);
  });

  it('refuses lines that are not outcomes, without quoting them', async () => {
    const cwd = await folderWith({ 'a.csv': 'text\nhello\n' });
    const { dir } = await startRun({ ...judging(cwd), flags: { canaries: 'off' } });
    await appendFile(join(dir, 'verdicts.jsonl'), '{"secret":1}\n');
    const found: string[] = [];
    const reading = (async () => {
      for await (const { id } of verdicts(dir)) found.push(id);
    })();
    expect(await failure(reading)).toEqual(['internal', 'verdicts.jsonl line 2 is not an outcome line']);
  });
});
