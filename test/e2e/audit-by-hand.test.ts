import { execFile, execFileSync } from 'node:child_process';
import { appendFile, cp, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { onlyRun } from '../helpers/run-directory.ts';
import { reseal } from '../record/reseal.ts';
import { debianProgram } from '../helpers/setup/debian-program.ts';

const run = promisify(execFile);

beforeAll(() => {
  debianProgram(['jq'], { versionFlag: '--version', package: 'jq' });
});

/** The commands of docs/audit.md, in order, as one script. */
async function commands(signed: boolean): Promise<string> {
  const page = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^```sh( signed)?\n(.*?)^```$/gms)];
  expect(blocks.length).toBeGreaterThan(10);
  return blocks
    .filter(([, isSigned]) => signed || isSigned === undefined)
    .map(([, , text]) => text)
    .join('');
}

/** A finished run with errors and equal texts, signed, in a folder beside the public key. */
async function finishedRun(): Promise<string> {
  const cwd = await temporaryFolder();
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', join(cwd, 'key.pem')]);
  await mkdir(join(cwd, 'in'));
  await writeFile(join(cwd, 'in', 'a.csv'), 'text\nhello there\n""\nI will kill you\nhello there\n');
  await writeFile(join(cwd, 'in', 'b.jsonl'), '{"text":"good morning"}\n{"text":\n{"text":"hello there"}\n');
  await writeFile(join(cwd, 'in', 'c.bin'), Buffer.from([0, 1, 2, 3, 254, 255, 0, 1]));
  const env = { GUARDSWEEP_SIGNING_KEY_FILE: join(cwd, 'key.pem') };
  const done = await guardsweep(['enqueue', 'in', '--quiet'], { cwd, env });
  expect(done.status).toBe(5);
  const folder = join(cwd, 'audit');
  await mkdir(folder);
  execFileSync('openssl', [
    'pkey',
    '-in',
    join(cwd, 'key.pem'),
    '-pubout',
    '-out',
    join(folder, 'public.pem'),
  ]);
  await cp(await onlyRun(join(cwd, 'runs')), join(folder, 'run'), { recursive: true });
  return join(folder, 'run');
}

describe('the commands of docs/audit.md', () => {
  it('find nothing wrong with a run, and print what the page says', async () => {
    const cwd = await finishedRun();
    const { stdout, stderr } = await run('sh', ['-c', await commands(true)], { cwd });
    expect(stderr).toBe('');
    const summary = JSON.parse(await readFile(join(cwd, 'summary.json'), 'utf8')) as { items: number };
    expect(stdout.split('\n').slice(0, 2)).toEqual([String(summary.items), String(summary.items)]);
    expect(stdout).toContain('Signature Verified Successfully');
    // The hash of the example text is that of an item with this text.
    expect(stdout).toMatch(/^[0-9a-f]{64} {2}-$/m);
  });

  it.each([
    ['a final file', (dir: string) => appendFile(join(dir, 'verdicts.csv'), '\n')],
    ['the manifest', (dir: string) => appendFile(join(dir, 'manifest.json'), '\n')],
    ['the configuration', (dir: string) => appendFile(join(dir, 'run.json'), ' ')],
    ['the log', (dir: string) => truncate(join(dir, 'log', '0001-000001.jsonl'), 100)],
  ])('find that %s was changed', async (_, change) => {
    const cwd = await finishedRun();
    await change(cwd);
    await expect(run('sh', ['-c', await commands(false)], { cwd })).rejects.toMatchObject({ code: 1 });
  });

  it.each([
    ['a verdict', 'verdicts.jsonl', /"score":[^,]*/, '"score":0.123', 'has lines that are not in the log'],
    ['the policy', 'run.json', '"frames"', '"frames" ', 'does not continue from 0000'],
    ['a line of the chain', 'log/0001-commits.jsonl', '"at":"20', '"at":"19', 'the chain breaks in'],
    ['an outcome in the log', 'log/0001-000001.jsonl', /"score":[^,]*/, '"score":0.123', 'differs at byte'],
  ])('find that %s was changed, and all hashes made anew', async (_, path, found, changed, message) => {
    const cwd = await finishedRun();
    const text = await readFile(join(cwd, path), 'utf8');
    await writeFile(join(cwd, path), text.replace(found, changed));
    await reseal(cwd);
    const failure: unknown = await run('sh', ['-c', await commands(false)], { cwd }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 1, stdout: expect.stringContaining(message) as string });
  });
});
