import { execFileSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommands } from '../../src/cli/run/run-commands.ts';
import type { NotedHead } from '../../src/record/head-file.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { typed } from '../cli/terminal.ts';
import { makeSigningKeys } from '../helpers/certificate.ts';
import { folderWith, guardsweep, printedRun, temporaryFolder } from '../helpers/cli.ts';
import { corpusAt, runConfig } from '../helpers/run-config.ts';
import { jsonLines, onlyRun } from '../helpers/run-directory.ts';
import { createdFrom } from '../runs/small-run.ts';
import { reseal } from '../record/reseal.ts';

const SCRIPT = `#!/bin/sh
echo "told" >&2
env > "$1"
exit "\${2:-0}"
`;

/** A folder with a corpus, and commands in it that run in this process. */
async function corpus() {
  const cwd = await folderWith({ 'a.csv': 'text\nhello there\n', 'told.sh': SCRIPT });
  await chmod(join(cwd, 'told.sh'), 0o700);
  const command = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    typed(args, { runs: runCommands, context: { cwd, env: { XDG_STATE_HOME: cwd, ...env } } });
  const enqueue = ['enqueue', 'a.csv', '--no-report'];
  return { cwd, command, enqueue, heads: () => jsonLines<NotedHead>(join(cwd, 'heads.jsonl')) };
}

describe('after a run is finished', () => {
  it('its head is in the head file, and verify finds a record that was made anew', async () => {
    const { command, enqueue, heads } = await corpus();
    const flags = ['--head-file', 'heads.jsonl'];
    const done = await command([...enqueue, ...flags, '--json']);
    expect(done.status).toBe(0);
    const { chain_head, dir: run } = JSON.parse(done.stdout) as Summary;
    expect(await heads()).toMatchObject([{ run: basename(run), pass: 1, head: chain_head }]);
    expect(`${(await heads())[0]!.manifest}  manifest.json\n`).toBe(
      await readFile(join(run, 'manifest.sha256'), 'utf8'),
    );
    expect((await command(['verify', run, ...flags])).status).toBe(0);

    // Noted once, however often the run is resumed.
    expect((await command(['resume', run, ...flags])).status).toBe(0);
    expect(await heads()).toHaveLength(1);

    await reseal(run, (manifest) => ({ ...manifest, finished_at: '2020-01-01T00:00:00.000Z' }));
    expect((await command(['verify', run])).status).toBe(0);
    const forged = await command(['verify', run, ...flags]);
    expect([forged.status, forged.stdout]).toEqual([1, expect.stringMatching(/not the expected one/)]);
  });

  it('no head is noted or told of a finished run whose record failed verification', async () => {
    const { cwd, command, enqueue, heads } = await corpus();
    const run = printedRun(await command(enqueue));
    const summary = join(run, 'summary.json');
    const text = await readFile(summary, 'utf8');
    await writeFile(summary, text.replace(/"chain_head": "\w+"/, `"chain_head": "${'0'.repeat(64)}"`));
    const flags = ['--head-file', 'heads.jsonl', '--on-finish', './told.sh', '--on-finish', join(cwd, 'env')];
    const { status, stderr } = await command(['resume', run, ...flags]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('summary.json')]);
    expect(await readFile(join(cwd, 'heads.jsonl'), 'utf8')).toBe('');
    expect((await readFile(join(cwd, 'env'), 'utf8')).split('\n')).toEqual(
      expect.arrayContaining(['GUARDSWEEP_STATUS=1', 'GUARDSWEEP_HEAD=']),
    );
    await writeFile(summary, text);
    expect((await command(['resume', run, ...flags])).status).toBe(0);
    expect(await heads()).toHaveLength(1);
  });

  it('a command that a job file names is told of it, without our secrets', async () => {
    const { cwd, heads } = await corpus();
    const after = `headFile: heads.jsonl\nonFinish: [./told.sh, ${JSON.stringify(join(cwd, 'env'))}]\n`;
    await writeFile(join(cwd, 'job.yaml'), `sources: [{ path: a.csv }]\n${after}`);
    const args = ['enqueue', join(cwd, 'job.yaml'), '--json', '--no-report', '--out', join(cwd, 'out')];
    const env = { GUARD_API_KEY: 'secret-of-the-guard', REDIS_PREFIX: 'x', SLACK_TOKEN: 'theirs' };
    // What the file names is relative to itself.
    const done = await guardsweep(args, { cwd: await temporaryFolder(), env });
    expect(done.status).toBe(0);
    const { chain_head, run, dir } = JSON.parse(done.stdout) as Summary;
    const told = (await readFile(join(cwd, 'env'), 'utf8')).split('\n');
    expect(told).toEqual(
      expect.arrayContaining([
        ...[`GUARDSWEEP_HEAD=${chain_head}`, `GUARDSWEEP_RUN=${run}`, `GUARDSWEEP_RUN_DIR=${dir}`],
        ...['GUARDSWEEP_STATUS=0', 'SLACK_TOKEN=theirs'],
      ]),
    );
    expect(told.join()).not.toMatch(/secret-of-the-guard|REDIS/);
    expect(await heads()).toMatchObject([{ head: chain_head }]);
    // A run directory may be another's: it names no program and no file.
    expect(await readFile(join(dir, 'run.json'), 'utf8')).not.toMatch(/told\.sh|heads\.jsonl/);
  });

  it('a command that fails is named, and the run is as it was', async () => {
    const { cwd, enqueue, command } = await corpus();
    const args = ['--on-finish', './told.sh', '--on-finish', join(cwd, 'env'), '--on-finish', '3'];
    const failed = await command([...enqueue, ...args]);
    expect(failed.status).toBe(0);
    expect(failed.stderr).toMatch(/\ntold\nguardsweep: after the run: .*told\.sh ended with status 3\n/s);
    const run = await onlyRun(join(cwd, 'runs'));
    const missing = await command(['resume', run, '--on-finish', 'no-such-program']);
    expect(missing.status).toBe(0);
    expect(missing.stderr).toMatch(/no-such-program cannot be started \(ENOENT\)/);
  });

  it('a command is told of every end, as JSON without content', async () => {
    const { cwd, enqueue, command } = await corpus();
    await writeFile(join(cwd, 'note.sh'), '#!/bin/sh\ncat >> "$1"\n', { mode: 0o700 });
    const note = ['--on-finish', './note.sh', '--on-finish', join(cwd, 'notes')];
    await writeFile(join(cwd, 'b.csv'), 'text\n""\n');
    expect((await command([...enqueue, ...note])).status).toBe(0);
    expect((await command(['enqueue', 'b.csv', '--no-report', ...note])).status).toBe(5);
    const gate = ['--fail-if', 'error-rate=0.5', '--guard', 'embedded:'];
    expect((await command(['enqueue', 'b.csv', '--no-report', ...gate, ...note])).status).toBe(3);
    const config = { ...runConfig(join(cwd, 'away'), [corpusAt(join(cwd, 'a.csv'))]), maxWaitMs: 0 };
    const { dir } = await createdFrom({ ...config, guards: ['grpc://127.0.0.1:1'] });
    const resumed = await command(['resume', dir, '--trust-run', '--start-wait', '0s', ...note]);
    expect(resumed.status).toBe(4);
    expect(await readFile(join(cwd, 'notes'), 'utf8')).not.toContain('hello');
    expect(await jsonLines(join(cwd, 'notes'))).toMatchObject([
      { status: 0, state: 'finished', items: 1, verdicts: 1, errors: 0, gates_tripped: [] },
      { status: 5, state: 'finished', items: 1, verdicts: 0, errors: 1 },
      { status: 3, state: 'finished', items: 1, errors: 1, gates_tripped: ['errorRate'] },
      { status: 4, state: 'failed', items: null, chain_head: null },
    ]);
  });

  it('2: a key that is none or not public, and a head file in a run directory', async () => {
    const { cwd, enqueue, command } = await corpus();
    const env = { GUARDSWEEP_SIGNING_KEY_FILE: makeSigningKeys(cwd).key };
    const run = printedRun(await command([...enqueue, '--out', 'before'], env));
    expect((await command(['verify', run])).stdout).toContain('signed, but the signature was not checked');
    expect(await command(['verify', run, '--public-key', 'key.pem'])).toMatchObject({ status: 2 });
    const x25519 = execFileSync('openssl', ['genpkey', '-algorithm', 'x25519']).toString();
    const refused: [args: string[], env: NodeJS.ProcessEnv, says: RegExp][] = [
      [[], { GUARDSWEEP_SIGNING_KEY: 'PRIVATE KEY' }, /PKCS#8.*openssl genpkey/],
      [[], { GUARDSWEEP_SIGNING_KEY: x25519 }, /not Ed25519/],
      [[], { GUARDSWEEP_SIGNING_KEY_FILE: '/dev/zero' }, /holds no key/],
      [['--head-file', join(run, 'heads.jsonl')], {}, /in the run directory/],
      [['--head-file', join(cwd, 'none', 'heads.jsonl')], {}, /there is no folder/],
    ];
    for (const [args, env, says] of refused) {
      const done = await command([...enqueue, ...args], env);
      expect([done.status, done.stderr]).toEqual([2, expect.stringMatching(says)]);
      expect(done.stderr).not.toMatch(/PRIVATE KEY/);
    }
  });
});
