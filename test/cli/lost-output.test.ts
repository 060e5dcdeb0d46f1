import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Summary } from '../../src/record/summary/summary.ts';
import { folderWith } from '../helpers/cli.ts';
import { jsonLines, onlyRun } from '../helpers/run-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

async function corpus(): Promise<{ path: string; out: string }> {
  const folder = await folderWith({ 'uploads/a.csv': 'id,text\n1,hello\n2,hello again\n' });
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
  it('to stdout is a result that was lost: the run comes to its end, with status 4', async () => {
    const { path, out } = await corpus();
    expect(await onFullDisk(['enqueue', path, '--out', out, '--no-report'], 1)).toBe(4);
    expect(await summary(out)).toMatchObject({ status: 'finished', items: 2 });
    expect(await jsonLines(join(await onlyRun(out), 'verdicts.jsonl'))).toHaveLength(2);
  });
});
