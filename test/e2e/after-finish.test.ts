import { execFileSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NotedHead } from '../../src/record/head-file.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { jsonLines, onlyRun } from '../helpers/run-directory.ts';
import { reseal } from '../record/reseal.ts';

const SCRIPT = `#!/bin/sh
echo "told" >&2
env > "$1"
exit "\${2:-0}"
`;

async function corpus(): Promise<string> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'a.csv'), 'text\nhello there\n');
  await writeFile(join(cwd, 'told.sh'), SCRIPT, { mode: 0o700 });
  return cwd;
}

/** A pair of keys as openssl makes them. */
function makeKeys(cwd: string): void {
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', join(cwd, 'key.pem')]);
  execFileSync('openssl', ['pkey', '-in', join(cwd, 'key.pem'), '-pubout', '-out', join(cwd, 'public.pem')]);
}

describe('after a run is finished', () => {
  it('its head is in the head file, and verify finds a record that was made anew', async () => {
    const cwd = await corpus();
    const done = await guardsweep(['enqueue', 'a.csv', '--head-file', 'heads.jsonl', '--json'], { cwd });
    expect(done.status).toBe(0);
    const summary = JSON.parse(done.stdout) as Summary;
    const run = await onlyRun(join(cwd, 'runs'));
    const heads = () => jsonLines<NotedHead>(join(cwd, 'heads.jsonl'));
    expect(await heads()).toMatchObject([{ run: basename(run), pass: 1, head: summary.chain_head }]);
    expect(`${(await heads())[0]!.manifest}  manifest.json\n`).toBe(
      await readFile(join(run, 'manifest.sha256'), 'utf8'),
    );
    const verify = ['verify', run, '--head-file', 'heads.jsonl'];
    expect((await guardsweep(verify, { cwd })).status).toBe(0);

    // Noted once, however often the run is resumed.
    expect((await guardsweep(['resume', run, '--head-file', 'heads.jsonl'], { cwd })).status).toBe(0);
    expect(await heads()).toHaveLength(1);

    await reseal(run, (manifest) => ({ ...manifest, finished_at: '2020-01-01T00:00:00.000Z' }));
    expect((await guardsweep(['verify', run], { cwd })).status).toBe(0);
    const forged = await guardsweep(verify, { cwd });
    expect(forged.status).toBe(1);
    expect(forged.stdout).toMatch(/not the expected one/);
  });

  it('no head is noted, and nobody told, of a finished run whose record failed verification', async () => {
    const cwd = await corpus();
    expect((await guardsweep(['enqueue', 'a.csv'], { cwd })).status).toBe(0);
    const run = await onlyRun(join(cwd, 'runs'));
    const summary = join(run, 'summary.json');
    const text = await readFile(summary, 'utf8');
    await writeFile(summary, text.replace(/"chain_head": "\w+"/, `"chain_head": "${'0'.repeat(64)}"`));
    const flags = ['--head-file', 'heads.jsonl', '--on-finish', './told.sh', '--on-finish', join(cwd, 'env')];
    const { status, stderr } = await guardsweep(['resume', run, ...flags], { cwd });
    expect([status, stderr]).toEqual([1, expect.stringContaining('summary.json')]);
    expect(await readFile(join(cwd, 'heads.jsonl'), 'utf8')).toBe('');
    await expect(readFile(join(cwd, 'env'))).rejects.toThrow('ENOENT');
    await writeFile(summary, text);
    expect((await guardsweep(['resume', run, ...flags], { cwd })).status).toBe(0);
    expect(await jsonLines(join(cwd, 'heads.jsonl'))).toHaveLength(1);
  });

  it('a command is told of it, without our secrets', async () => {
    const cwd = await corpus();
    const env = { GUARD_API_KEY: 'secret-of-the-guard', REDIS_PREFIX: 'x', SLACK_TOKEN: 'theirs' };
    const args = ['enqueue', 'a.csv', '--json', '--on-finish', './told.sh', '--on-finish', join(cwd, 'env')];
    const done = await guardsweep(args, { cwd, env });
    expect(done.status).toBe(0);
    const { chain_head, run } = JSON.parse(done.stdout) as Summary;
    const told = await readFile(join(cwd, 'env'), 'utf8');
    expect(told).toContain(`GUARDSWEEP_HEAD=${chain_head}\n`);
    expect(told).toContain(`GUARDSWEEP_RUN=${run}\n`);
    expect(told).toContain(`GUARDSWEEP_RUN_DIR=${await onlyRun(join(cwd, 'runs'))}\n`);
    expect(told).toContain('GUARDSWEEP_STATUS=0\n');
    expect(told).toContain('SLACK_TOKEN=theirs\n');
    expect(told).not.toMatch(/secret-of-the-guard|REDIS/);
  });

  it('4: a command that fails, or a head that cannot be noted; the run stays finished', async () => {
    const cwd = await corpus();
    const args = ['--on-finish', './told.sh', '--on-finish', join(cwd, 'env'), '--on-finish', '3'];
    const failed = await guardsweep(['enqueue', 'a.csv', ...args], { cwd });
    expect(failed.status).toBe(4);
    expect(failed.stderr).toMatch(/\ntold\n.*the run is finished, but .*told\.sh ended with status 3; /s);
    const run = await onlyRun(join(cwd, 'runs'));
    expect((await guardsweep(['verify', run], { cwd })).status).toBe(0);
    const missing = await guardsweep(['resume', run, '--on-finish', 'no-such-program'], { cwd });
    expect(missing.status).toBe(4);
    expect(missing.stderr).toMatch(/no-such-program cannot be started \(ENOENT\)/);
    expect((await guardsweep(['resume', run, '--on-finish', 'true'], { cwd })).status).toBe(0);
  });

  it('a job file says what is done, relative to itself', async () => {
    const cwd = await corpus();
    await writeFile(
      join(cwd, 'job.yaml'),
      `sources: [{ path: a.csv }]\nheadFile: heads.jsonl\nonFinish: [./told.sh, ${JSON.stringify(join(cwd, 'env'))}]\n`,
    );
    const elsewhere = await temporaryFolder();
    const done = await guardsweep(['enqueue', join(cwd, 'job.yaml'), '--json', '--out', join(cwd, 'out')], {
      cwd: elsewhere,
    });
    expect(done.status).toBe(0);
    const { chain_head } = JSON.parse(done.stdout) as Summary;
    expect(await jsonLines(join(cwd, 'heads.jsonl'))).toMatchObject([{ head: chain_head }]);
    expect(await readFile(join(cwd, 'env'), 'utf8')).toContain(chain_head);
    // A run directory may be another's: it names no program and no file.
    const run = await onlyRun(join(cwd, 'out'));
    expect(await readFile(join(run, 'run.json'), 'utf8')).not.toMatch(/told\.sh|heads\.jsonl/);
  });

  it('its manifest is signed with the key, and verify wants the signature', async () => {
    const cwd = await corpus();
    makeKeys(cwd);
    const env = { GUARDSWEEP_SIGNING_KEY_FILE: join(cwd, 'key.pem') };
    expect((await guardsweep(['enqueue', 'a.csv'], { cwd, env })).status).toBe(0);
    const run = await onlyRun(join(cwd, 'runs'));
    const unchecked = await guardsweep(['verify', run], { cwd });
    expect(unchecked.stdout).toMatch(/signed, but the signature was not checked/);
    const verify = ['verify', run, '--public-key', 'public.pem'];
    const valid = await guardsweep(verify, { cwd });
    expect([valid.status, valid.stdout]).toEqual([0, expect.stringMatching(/the signature is valid/)]);
    expect((await guardsweep(['verify', run, '--public-key', 'key.pem'], { cwd })).status).toBe(2);
    await reseal(run, (manifest) => ({ ...manifest, finished_at: '2020-01-01T00:00:00.000Z' }));
    const forged = await guardsweep(verify, { cwd });
    expect(forged.status).toBe(1);
    expect(forged.stdout).toMatch(/not a signature of manifest\.sha256/);
  });

  it('2: a key that others can read or that is none, and a head file in a run directory', async () => {
    const cwd = await corpus();
    makeKeys(cwd);
    await guardsweep(['enqueue', 'a.csv', '--out', 'before'], { cwd });
    const run = await onlyRun(join(cwd, 'before'));
    const refused = async (args: readonly string[], env: NodeJS.ProcessEnv, says: RegExp): Promise<void> => {
      const done = await guardsweep(['enqueue', 'a.csv', ...args], { cwd, env });
      expect([done.status, done.stderr]).toEqual([2, expect.stringMatching(says)]);
      expect(done.stderr).not.toMatch(/PRIVATE KEY/);
    };
    const file = join(cwd, 'key.pem');
    await refused([], { GUARDSWEEP_SIGNING_KEY: 'PRIVATE KEY' }, /PKCS#8.*openssl genpkey/);
    const rsa = execFileSync('openssl', ['genpkey', '-algorithm', 'x25519']).toString();
    await refused([], { GUARDSWEEP_SIGNING_KEY: rsa }, /not Ed25519/);
    await refused([], { GUARDSWEEP_SIGNING_KEY_FILE: '/dev/zero' }, /holds no key/);
    await refused([], { GUARDSWEEP_SIGNING_KEY_FILE: join(cwd, 'none') }, /ENOENT/);
    await writeFile(join(run, 'key.pem'), await readFile(file), { mode: 0o600 });
    await refused([], { GUARDSWEEP_SIGNING_KEY_FILE: join(run, 'key.pem') }, /in the run directory/);
    await refused(['--head-file', join(run, 'heads.jsonl')], {}, /in the run directory/);
    await refused(['--head-file', join(cwd, 'none', 'heads.jsonl')], {}, /there is no folder/);
    await chmod(file, 0o604);
    await refused([], { GUARDSWEEP_SIGNING_KEY_FILE: file }, /chmod 600/);
  });
});
