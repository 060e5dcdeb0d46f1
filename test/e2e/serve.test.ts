import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { folderWith, Cli, guardsweep, printedRun, temporaryFolder } from '../helpers/cli.ts';
import { restGuard } from '../helpers/guards/guard-pool.ts';
import { debianProgram } from '../helpers/setup/debian-program.ts';
import { outcomes, until } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

const fixture = (path: string): string => fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));

/** A gateway in a process of its own. */
async function served(guard: string, env: NodeJS.ProcessEnv = {}) {
  const cli = new Cli(['serve', '--guard', guard, '--port', '0'], { env });
  const origin = await until(async () => /listening on (\S+)\n/.exec(cli.stdout)?.[1], 'the gateway');
  return { cli, origin };
}

/** Runs curl, and returns the status and the JSON of its reply. */
async function curl(...args: readonly string[]): Promise<[status: number, body: Record<string, unknown>]> {
  const program = debianProgram(['curl'], { versionFlag: '--version', package: 'curl' });
  const { stdout } = await promisify(execFile)(program, ['-sS', '-w', '\n%{http_code}', ...args]);
  const [body, status] = stdout.split('\n');
  return [Number(status), JSON.parse(body!) as Record<string, unknown>];
}

it('curl gets verdicts on texts, images and clips from the embedded guard, and SIGTERM ends it well (C-111, C-402)', async () => {
  const { cli, origin } = await served('embedded:');
  const json = ['-H', 'content-type: application/json', '-d', '{"text":"The library opens at nine."}'];
  const text = await curl(...json, `${origin}/v1/moderations/text`);
  expect(text).toMatchObject([200, { flagged: false, subcategory_flags: {} }]);
  const image = await curl('-F', `file=@${fixture('images/grey.png')}`, `${origin}/v1/moderations/image`);
  expect(image).toMatchObject([200, { flagged: false }]);
  const clip = ['-F', `file=@${fixture('audio/cover.m4a')}`];
  const unheard = await curl(...clip, `${origin}/v1/moderations/audio`);
  expect(unheard).toMatchObject([501, { error: { code: 'PROBE_NOT_LOADED' } }]);
  const heard = await curl(...clip, '-F', 'text=Good morning.', `${origin}/v1/moderations/audio`);
  expect(heard).toMatchObject([200, { flagged: false }]);
  cli.kill('SIGTERM');
  expect(await cli.finished()).toMatchObject({ status: 0, stderr: '' });
});

it('is a guard over REST for a run (C-104)', async () => {
  const { origin } = await served((await syntheticGuard()).address);
  const folder = await folderWith({ 'texts.csv': `text\none\n${'long '.repeat(20_000)}\nthree\n` });
  const sources = [join(folder, 'texts.csv'), fixture('images/grey.png'), fixture('audio/cover.m4a')];
  const done = await guardsweep(['enqueue', ...sources, '--guard', origin], { cwd: folder });
  expect(done).toMatchObject({ status: 0 });
  const lines = await outcomes(printedRun(done));
  expect(lines.map(({ status, endpoint }) => [status, endpoint])).toEqual(lines.map(() => ['ok', origin]));
  expect(lines).toHaveLength(5);
});

it('a run at a guard over REST has verdicts without a fingerprint, and says why (C-104)', async () => {
  const server = await restGuard();
  const pair = '{"prompt":"p","response":"r"}\n';
  const cwd = await folderWith({ 'a.csv': 'text\none\ntwo\nthree\n', 'b.jsonl': pair });
  const env = { GUARD_API_KEY: 'for another' };
  const done = await guardsweep(['enqueue', 'a.csv', 'b.jsonl', '--guard', server.address], { cwd, env });
  // The pair cannot be judged over REST.
  expect(done.status).toBe(5);
  expect(done.stdout).toContain('Judged 3 of 4 items; 1 not judged');
  expect(done.stdout).toContain('PROBE_NOT_LOADED');
  expect(done.stdout).toContain('Over REST a guard does not report its model');
  const judged = { status: 'ok', fingerprint: null, endpoint: server.address, attempts: 1 };
  const failed = { status: 'error', error: { code: 'PROBE_NOT_LOADED' } };
  expect(await outcomes(printedRun(done))).toMatchObject([judged, judged, judged, failed]);
  expect(server.seen.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  expect((await guardsweep(['verify', printedRun(done)])).status).toBe(0);
});

it('without ffmpeg a clip that needs it is of an unsupported type (C-405)', async () => {
  const { origin } = await served((await syntheticGuard()).address, { PATH: await temporaryFolder() });
  const reply = await curl('-F', `file=@${fixture('audio/cover.m4a')}`, `${origin}/v1/moderations/audio`);
  expect(reply).toMatchObject([415, { error: { code: 'UNSUPPORTED_AUDIO_TYPE' } }]);
  expect(JSON.stringify(reply)).toContain('ffmpeg is not installed');
});

it('needs a guard unless it serves the dashboard, and a token where other machines can reach it (C-503)', async () => {
  const [unguarded, open] = await Promise.all([
    guardsweep(['serve', '--no-dashboard']),
    guardsweep(['serve', '--guard', 'embedded:', '--host', '0.0.0.0']),
  ]);
  expect([unguarded.status, open.status]).toEqual([2, 2]);
  expect(unguarded.stderr).toContain('the gateway needs a guard');
  expect(open.stderr).toContain('GUARDSWEEP_GATEWAY_TOKEN');
});
