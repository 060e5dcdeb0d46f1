import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Summary } from '../../src/record/summary/summary.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { jsonLines, onlyRun } from '../helpers/run-directory.ts';
import { readFile } from 'node:fs/promises';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

async function corpus(): Promise<{ path: string; out: string }> {
  const folder = await temporaryFolder();
  mkdirSync(join(folder, 'uploads'));
  writeFileSync(join(folder, 'uploads', 'a.csv'), 'id,text\n1,hello\n2,hello again\n');
  return { path: join(folder, 'uploads'), out: join(folder, 'runs') };
}

/** Runs a command with one of its outputs on a device that is always full. */
async function onFullDisk(args: readonly string[], stream: 1 | 2): Promise<number | null> {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore'];
  stdio[stream] = full;
  const child = spawn(process.execPath, [MAIN, ...args], { stdio });
  await once(child, 'close');
  return child.exitCode;
}

async function summary(out: string): Promise<Summary> {
  return JSON.parse(await readFile(join(await onlyRun(out), 'summary.json'), 'utf8')) as Summary;
}

describe.runIf(process.platform === 'linux')('output that cannot be written', () => {
  it('to stderr is dropped, and the run comes to its end', async () => {
    const { path, out } = await corpus();
    expect(await onFullDisk(['enqueue', path, '--out', out], 2)).toBe(0);
    expect(await summary(out)).toMatchObject({ status: 'finished', items: 2 });
  });

  it('to stdout is a result that was lost: the run comes to its end, with status 4', async () => {
    const { path, out } = await corpus();
    expect(await onFullDisk(['enqueue', path, '--out', out], 1)).toBe(4);
    expect(await summary(out)).toMatchObject({ status: 'finished', items: 2 });
    expect(await jsonLines(join(await onlyRun(out), 'verdicts.jsonl'))).toHaveLength(2);
  });

  it('to a pipe that nobody reads any more is dropped', async () => {
    const { path, out } = await corpus();
    const child = spawn(process.execPath, [MAIN, 'enqueue', path, '--out', out], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.destroy();
    await once(child, 'close');
    expect(child.exitCode).toBe(0);
    expect(await summary(out)).toMatchObject({ status: 'finished' });
  });
});

describe('an output folder that cannot be made', () => {
  it.runIf(process.platform === 'linux')('is said for one below /proc', async () => {
    const { path } = await corpus();
    const { status, stderr } = await guardsweep(['enqueue', path, '--out', '/proc/guardsweep/runs']);
    expect(status).toBe(2);
    expect(stderr).toContain('cannot write a run directory in /proc/guardsweep/runs (ENOENT)');
  });

  it('is said for one below a file', async () => {
    const { path } = await corpus();
    const { status, stderr } = await guardsweep(['enqueue', path, '--out', join(path, 'a.csv', 'runs')]);
    expect(status).toBe(2);
    expect(stderr).toContain('a.csv');
  });
});
