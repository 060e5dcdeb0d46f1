import { execFile } from 'node:child_process';
import { appendFile, cp, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../src/cli/run/run-commands.ts';
import { typed } from '../cli/terminal.ts';
import { makeSigningKeys } from '../helpers/certificate.ts';
import { printedRun, temporaryFolder, sharedFolder, writeFiles } from '../helpers/cli.ts';
import { reseal } from '../record/reseal.ts';
import { debianProgram } from '../helpers/setup/debian-program.ts';

/** The commands of docs/audit.md, in order, as one script. */
async function commands(signed: boolean): Promise<string> {
  const page = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^```sh( signed)?\n(.*?)^```$/gms)];
  expect(blocks.length).toBeGreaterThan(8);
  return blocks
    .filter(([, isSigned]) => signed || isSigned === undefined)
    .map(([, , text]) => text)
    .join('');
}

/** Runs them in a run directory; `signed`: with those that check the signature. */
const audit = async (cwd: string, signed: boolean) =>
  promisify(execFile)('sh', ['-c', await commands(signed)], { cwd });

const folder = sharedFolder();

/** A copy of a finished run with errors and equal texts, signed, in a folder beside the public key. */
async function finishedRun(): Promise<string> {
  const copy = join(await temporaryFolder(), 'audit');
  await cp(join(folder, 'audit'), copy, { recursive: true });
  return join(copy, 'run');
}

beforeAll(async () => {
  debianProgram(['jq'], { versionFlag: '--version', package: 'jq' });
  await writeFiles(folder, {
    'in/a.csv': 'text\nhello there\n""\nI will kill you\nhello there\n',
    'in/b.jsonl': '{"text":"good morning"}\n{"text":\n{"text":"hello there"}\n',
    'in/c.bin': Buffer.from([0, 1, 2, 3, 254, 255, 0, 1]),
  });
  const { key, publicKey } = makeSigningKeys(folder);
  await writeFiles(folder, { 'audit/public.pem': await readFile(publicKey) });
  const context = { cwd: folder, env: { GUARDSWEEP_SIGNING_KEY_FILE: key, XDG_STATE_HOME: folder } };
  const done = await typed(['enqueue', 'in', '--quiet', '--no-report'], { runs: runCommands, context });
  expect(done.status).toBe(5);
  await cp(printedRun(done), join(folder, 'audit', 'run'), { recursive: true });
});

describe('the commands of docs/audit.md', () => {
  it('find nothing wrong with a run, and print what the page says', async () => {
    const cwd = await finishedRun();
    const { stdout, stderr } = await audit(cwd, true);
    expect(stderr).toBe('');
    const summary = JSON.parse(await readFile(join(cwd, 'summary.json'), 'utf8')) as { items: number };
    expect(stdout.split('\n').slice(0, 2)).toEqual([String(summary.items), String(summary.items)]);
    expect(stdout).toContain('Signature Verified Successfully');
    // The hash of the example text is that of an item with this text.
    expect(stdout).toMatch(/^[0-9a-f]{64} {2}-$/m);
  });

  it.each([
    ['a final file', (dir: string) => appendFile(join(dir, 'verdicts.csv'), '\n')],
    ['the log', (dir: string) => truncate(join(dir, 'log', '0001-000001.jsonl'), 100)],
  ])('find that %s was changed', async (_, change) => {
    const cwd = await finishedRun();
    await change(cwd);
    await expect(audit(cwd, false)).rejects.toMatchObject({ code: 1 });
  });

  it('find a record that somebody without the key made anew', async () => {
    const cwd = await finishedRun();
    await reseal(cwd, (manifest) => ({ ...manifest, finished_at: '2020-01-01T00:00:00.000Z' }));
    const said = expect.stringContaining('Signature Verification Failure') as string;
    await expect(audit(cwd, true)).rejects.toMatchObject({ stdout: said });
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
    const said = expect.stringContaining(message) as string;
    await expect(audit(cwd, false)).rejects.toMatchObject({ code: 1, stdout: said });
  });
});
