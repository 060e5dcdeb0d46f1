import { hash } from 'node:crypto';
import { chmod, chown, cp, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommands } from '../../src/cli/run/run-commands.ts';
import { encodeLine, withoutCheck } from '../../src/files/checked-line.ts';
import { typed } from '../cli/terminal.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { guardsweep, printedRun, sharedFolder, writeFiles } from '../helpers/cli.ts';
import { restGuard } from '../helpers/guards/guard-pool.ts';
import { onlyRun } from '../helpers/run-directory.ts';

const NO_GUARD = 'grpc://127.0.0.1:1';

/** A folder with a run over `uploads` that lacks its manifest, and a copy of what a test may change in it. */
const folder = sharedFolder();
let run: string;
let env: NodeJS.ProcessEnv;

const command = (args: readonly string[]) =>
  typed(args, { runs: runCommands, context: { cwd: folder, env } });
const resume = (...args: string[]) => command(['resume', run, ...args]);

beforeAll(async () => {
  await writeFiles(folder, { 'uploads/a.csv': 'text\none\ntwo\n' });
  env = { XDG_STATE_HOME: join(folder, 'state') };
  const done = await command(['enqueue', 'uploads', '--no-report']);
  expect(done.status, done.stderr).toBe(0);
  run = printedRun(done);
  await rm(join(run, 'manifest.json'));
  for (const name of ['runs', 'state'])
    await cp(join(folder, name), join(folder, 'kept', name), { recursive: true });
});

beforeEach(async () => {
  env = { XDG_STATE_HOME: join(folder, 'state') };
  run = await onlyRun(join(folder, 'kept', 'runs')).then((kept) => kept.replace('/kept/', '/'));
  for (const name of ['runs', 'state']) {
    await rm(join(folder, name), { recursive: true, force: true });
    await cp(join(folder, 'kept', name), join(folder, name), { recursive: true });
  }
});

/** Changes what run.json says, as whoever sends a run directory may. */
async function edit(change: (text: string) => string): Promise<void> {
  const path = join(run, 'run.json');
  const text = await readFile(path, 'utf8');
  expect(change(text)).not.toBe(text);
  await writeFile(path, change(text));
}

describe('a run that was', () => {
  it('created here is resumed, wherever it was moved', async () => {
    const moved = join(folder, 'moved');
    await cp(run, moved, { recursive: true });
    run = moved;
    expect(await resume()).toMatchObject({ status: 0 });
  });

  it.each([
    ['created by somebody else', () => rm(join(folder, 'state'), { recursive: true })],
    ['without a seal', () => rm(join(run, 'control', 'seal'))],
    ['sealed under another key', () => writeFile(join(run, 'control', 'seal'), `${'0'.repeat(64)}\n`)],
  ])('%s is not worked on before its user says so', async (_, make) => {
    await make();
    for (const name of ['resume', 'retry']) {
      const { status, stderr } = await command([name, run]);
      expect([status, stderr]).toEqual([2, expect.stringContaining('--trust-run')]);
      expect(stderr).toContain(`it reads ${join(folder, 'uploads')} and sends that to `);
      expect(stderr).toMatch(/sends that to (embedded:|grpc:\/\/127\.0\.0\.1:1);/);
    }
  });

  it.each([
    ['other guards in it', (text: string) => text.replace('"embedded:"', `"${NO_GUARD}"`)],
    ['a flipped bit in it', (text: string) => text.replace('"created_at"', '"created_au"')],
    ['a byte of its JSON lost', (text: string) => text.slice(1)],
  ])(
    'created here and has a run.json with %s is said to be damaged, whoever trusts it',
    async (_, change) => {
      await edit(change);
      const said = 'run.json was damaged or changed after the run was created; put back a copy';
      for (const args of ['resume', 'resume --trust-run', 'retry']) {
        const { status, stderr } = await command([...args.split(' '), run]);
        expect([args, status, stderr]).toEqual([args, 1, expect.stringContaining(said)]);
      }
    },
  );

  it('trusted once is known from then on, and as it was', async () => {
    await rm(join(folder, 'state'), { recursive: true });
    const trusted = await resume('--trust-run');
    expect(trusted.status).toBe(0);
    expect(trusted.stderr).toContain(`it reads ${join(folder, 'uploads')} and sends that to embedded:`);
    expect(trusted.stderr).toMatch(/; it reuses verdicts of the store \/\S+\/\.store and adds its own$/m);
    const again = await resume();
    expect([again.status, again.stderr]).toEqual([0, expect.not.stringContaining('trusted')]);
    await rm(join(folder, 'state'), { recursive: true });
    expect((await resume()).status).toBe(2);
  });

  it('created without a folder for a key is finished all the same, and has to be trusted later', async () => {
    await writeFile(join(folder, 'blocked'), '');
    env = { XDG_STATE_HOME: join(folder, 'blocked') };
    const done = await command(['enqueue', 'uploads', '--out', 'other', '--no-report']);
    expect(done.status, done.stderr).toBe(0);
    run = printedRun(done);
    expect((await resume()).status).toBe(2);
    expect((await resume('--trust-run')).status).toBe(0);
  });
});

it('a key that others can read is none', async () => {
  await chmod(join(folder, 'state', 'guardsweep', 'run-key'), 0o644);
  expect((await resume()).status).toBe(2);
});

/** A line with other values and the check that fits them, as whoever forges a run writes it. */
function changed(line: string, values: object): string {
  return encodeLine({ ...(JSON.parse(withoutCheck(line)!) as object), ...values });
}

it('what a run reads lies in its corpora, whoever says that it is trusted', async () => {
  const secret = join(folder, 'id_rsa');
  await writeFile(secret, 'a private key\n');
  const list = join(run, 'sources.jsonl');
  for (const outside of [secret, `${folder}/uploads/../id_rsa`, join(folder, 'uploads-2', 'a.csv')]) {
    const [source] = (await readFile(list, 'utf8')).split('\n');
    await writeFile(list, `${changed(source!, { absolute: outside })}\n`);
    const { status, stderr } = await resume('--trust-run');
    expect([status, stderr]).toEqual([1, expect.stringContaining('in none of the corpora')]);
  }
});

it('every corpus and guard of a run is named, and to its end', async () => {
  const paths = Array.from({ length: 30 }, (_, index) => `/corpora/${'long'.repeat(80)}/${index}`);
  await edit((text) => {
    const record = JSON.parse(text) as { config: { sources: { path: string }[]; guards: string[] } };
    record.config.sources = paths.map((path) => ({ ...record.config.sources[0]!, path }));
    record.config.guards = Array.from({ length: 12 }, (_, index) => `grpc://host-${index}:8001`);
    return JSON.stringify(record);
  });
  // Whoever forges a run gives it a log that begins with the forged run.json, or none.
  await rm(join(run, 'log'), { recursive: true });
  const { status, stderr } = await resume();
  expect(status).toBe(2);
  for (const path of [...paths, 'grpc://host-11:8001']) expect(stderr).toContain(path);
});

it('the key for any guard goes to none that only the run directory names', async () => {
  const tls = await makeCertificate(folder, '127.0.0.1');
  const server = await restGuard({ tls });
  await edit((text) => text.replace('"embedded:"', `"${server.address}"`));
  await rm(join(run, 'plan.jsonl'));
  await rm(join(run, 'log'), { recursive: true });
  env = { ...env, NODE_EXTRA_CA_CERTS: tls.path, GUARD_API_KEY: 'secret' };
  const trusting = () => guardsweep(['resume', run, '--trust-run'], { cwd: folder, env });
  const refused = await trusting();
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('GUARD_API_KEY is not sent')]);
  expect(server.connections()).toBe(0);
  env = { ...env, GUARD_URL: server.address };
  expect((await trusting()).status).toBe(0);
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret', 'Bearer secret']);
});

describe('a run directory that', () => {
  it.each(['.', 'log', 'control'])('others can write in (%s) is not written in', async (name) => {
    await chmod(join(run, name), 0o770);
    const trusted = ['resume', 'retry'].map((command) => [command, run, '--trust-run']);
    const others = ['pause', 'continue', 'cancel'].map((command) => [command, run]);
    for (const args of [...trusted, ...others]) {
      const { status, stderr } = await command(args);
      expect([args[0], status, stderr]).toEqual([args[0], 2, expect.stringContaining('chmod -R go-w')]);
    }
    expect((await command(['status', run])).status).toBe(0);
    await chmod(join(run, name), 0o700);
    expect((await resume()).status).toBe(0);
  });

  it.runIf(process.geteuid?.() === 0)('belongs to another user is not written in', async () => {
    await chown(run, 65_534, 65_534);
    for (const args of [
      ['resume', run, '--trust-run'],
      ['cancel', run],
    ]) {
      const { status, stderr } = await command(args);
      expect([args[0], status, stderr]).toEqual([args[0], 2, expect.stringContaining('another user')]);
    }
    expect((await command(['verify', run])).stdout).toContain('manifest.json');
  });
});

// The last ones: they change what the runs read.
describe('a link', () => {
  beforeEach(async () => {
    await rm(join(folder, 'uploads'), { recursive: true });
    await writeFiles(folder, { 'private/id_rsa.txt': 'a private key\n', 'uploads/a.csv': 'text\none\n' });
    await rm(join(run, 'plan.jsonl'));
    await rm(join(run, 'log'), { recursive: true });
    await mkdir(join(run, 'log'), 0o700);
  });

  it('in the place of a corpus is named with what it leads to', async () => {
    await rm(join(folder, 'uploads'), { recursive: true });
    await symlink(join(folder, 'private'), join(folder, 'uploads'));
    await edit((text) => text.replace('"embedded:"', `"${NO_GUARD}"`));
    const { status, stderr } = await resume();
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(`${join(folder, 'uploads')} (which is ${join(folder, 'private')})`),
    ]);
  });

  it.each(['a.csv', 'uploads/up/a.csv', `uploads/${'x'.repeat(200)}`])(
    'in a corpus leads nowhere else, whatever the list says of its place (%s)',
    async (path) => {
      await rm(join(folder, 'uploads', 'a.csv'));
      await symlink(join(folder, 'private', 'id_rsa.txt'), join(folder, 'uploads', 'a.csv'));
      const list = join(run, 'sources.jsonl');
      const source = (await readFile(list, 'utf8')).trim();
      const { size, mtimeMs, ctimeMs, ino } = await stat(join(folder, 'private', 'id_rsa.txt'));
      const line = `${changed(source, { path, bytes: size, mtime_ms: mtimeMs, ctime_ms: ctimeMs, inode: ino })}\n`;
      await writeFile(list, line);
      const listed = `"sources_sha256": "${hash('sha256', line)}"`;
      await edit((text) => text.replace(/"sources_sha256": "\w+"/, listed));
      const { status, stderr } = await resume('--trust-run');
      expect([status, stderr]).toEqual([1, expect.stringContaining('in none of the corpora')]);
    },
  );
});
