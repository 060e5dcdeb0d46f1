import { chmod, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Flags } from '../../src/config/settings/given.ts';
import { folderWith } from '../helpers/cli.ts';
import { mistakeIn, resolved } from './workspace.ts';

const SOURCES = 'sources:\n  - path: a.csv\n';

/** By what is in job.yaml, the line it gives. */
const JOB_MISTAKES = {
  [`${SOURCES}    txt: body\n`]: '3:5: "txt" is not a known key of sources[0]; did you mean text?',
  [`${SOURCES}failIf: { categories: { hate: 1.1 } }\n`]:
    '3:25: failIf.categories.hate: Too big: expected number to be <=1',
  [`${SOURCES}longText: error\n`]: '3:1: longText was removed: long texts are judged in windows',
  'name: x\n': '1:1: sources: Invalid input: expected array, received undefined',
  'sources:\n  - path: b.csv\n': '2:5: sources[0].path: no such file or folder: "b.csv"',
  [`${SOURCES}schedule: { cron: 0 25 * * * }\n`]:
    '3:13: schedule.cron: "0 25 * * *" is not a cron expression: Invalid value for hour: 25',
  [`${SOURCES}schedule: { cron: 0 2 * * * }\n`]:
    '3:13: schedule.cron: a schedule needs a guard that is named: guard, GUARD_URL, or "embedded:" for the demonstration guard',
  [`${SOURCES}guard: embedded:\n`]: '3:8: Nested mappings are not allowed in compact mappings',
  [`${SOURCES}name: !env HOME\n`]: '3:7: Unresolved tag: !env',
};

const FLAG_MISTAKES: readonly (readonly [flags: Flags, line: string])[] = [
  [{ name: '../x' }, 'expected lower-case letters, digits and hyphens, at most 48, such as x; found "../x"'],
  [{ out: 'a.csv' }, '"<cwd>/a.csv" is not a folder'],
  [{ format: 'jsonl,cvs' }, '"cvs" is not known; did you mean csv?'],
  [{ maxWait: '10' }, 'expected a duration such as 30s, 10m or 2h, found "10"'],
  [{ sample: '0%' }, 'expected a share above 0, at most 1, such as 1% or 0.01; found "0%"'],
  [{ limit: '5', sample: '1%' }, 'goes without --sample: give one of them'],
  [{ streamCadence: '2' }, 'goes with --as-stream (asStream: true) only'],
];

/** By the value of a flag, what is said of it. */
const GUARD_MISTAKES = {
  'https://guard.example/v1/moderations':
    'name the base address of the guard, before /v1 or /v2, found "https://guard.example/v1/moderations"',
  'gpu-1:8001':
    'expected grpc://host:8001, grpcs://host:8001, https://host, http://host:9000, kserve+http[s]://host:8000, openai+http[s]://host:8000, ws[s]://host:8000 or embedded:, found "gpu-1:8001"',
  'openai+http://gpu-1?model=a&key=secret':
    'the address of this guard takes model and family only, and secrets come from the environment',
  'openai+http://user@gpu-1':
    'a guard URL must not hold a user, password, query or fragment; secrets come from the environment',
};
const FINGERPRINT_MISTAKE =
  'expected sha256: and 64 hex digits, as the fingerprint command prints; found "sha256:12"';

const POLICY_MISTAKES = {
  'thresholds:\n  default: { review: 0.9, block: 0.8 }\n':
    '2:14: thresholds.default.review: review 0.9 is above block 0.8; nothing would ever be reviewed',
  'thresholds:\n  hat: { review: 0.9 }\n': '2:3: "hat" is not a known key of thresholds; did you mean hate?',
  'allowFlaged: true\n': '1:1: "allowFlaged" is not a known key; did you mean allowFlagged?',
};

describe('a mistake is one line that names its place', () => {
  it.each(Object.entries(JOB_MISTAKES))('in a job file: %j', async (yaml, line) => {
    const cwd = await folderWith({ 'a.csv': '', 'job.yaml': yaml });
    expect(await mistakeIn({ cwd, paths: ['job.yaml'] })).toBe(`job.yaml:${line}`);
  });

  it.each<readonly [Flags, string]>([
    ...FLAG_MISTAKES,
    [{ expectFingerprint: 'sha256:12' }, FINGERPRINT_MISTAKE],
    ...Object.entries(GUARD_MISTAKES).map(([url, line]) => [{ guard: [url] }, line] as const),
  ])('in a flag: %j', async (flags, line) => {
    const cwd = await folderWith({ 'a.csv': '' });
    const flag = Object.keys(flags)[0]!.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    expect((await mistakeIn({ cwd, flags })).replaceAll(cwd, '<cwd>')).toBe(`--${flag}: ${line}`);
  });

  it.each(Object.entries(POLICY_MISTAKES))('in a policy: %j', async (yaml, line) => {
    const cwd = await folderWith({ 'a.csv': '', 'p.yaml': yaml });
    expect(await mistakeIn({ cwd, flags: { policy: 'p.yaml' } })).toBe(`p.yaml:${line}`);
  });

  it('in the environment, or in the arguments', async () => {
    const cwd = await folderWith({ 'a.csv': '', 'job.yaml': SOURCES, 'b.yml': SOURCES });
    const env = { GUARD_URL: 'grpc://a,ftp://b' };
    expect(await mistakeIn({ cwd, env })).toMatch(/^GUARD_URL: expected grpc:/);
    const said = (...paths: string[]) => mistakeIn({ cwd, paths });
    expect(await said()).toBe('name at least one file, folder or glob, or one job file');
    const both = 'job.yaml: a job file names its own sources; give either it or paths';
    expect(await said('a.csv', 'job.yaml')).toBe(both);
  });

  it('that never repeats a URL which may hold a secret', async () => {
    const cwd = await folderWith({ 'a.csv': '' });
    for (const url of [
      ...['grpc://u:s3cret@h:1', 'grpc://h?key=s3cret', 'ftp://s3cret@h', 'https://h?api_key=s3cret'],
      ...['https://s3cret@h/base', 'grpc://u:s3cret@h:99999'],
    ]) {
      const said = await mistakeIn({ cwd, flags: { guard: [url] } });
      expect(said).toMatch(/^--guard: a guard URL must not hold a user, password/);
      expect(said).not.toContain('s3cret');
    }
  });

  it('that no value can break into several or dress up', async () => {
    const cwd = await folderWith({ 'a.csv': '' });
    const said = await mistakeIn({ cwd, flags: { layout: `x\n\u001b[31m\u202e${'y'.repeat(200)}` } });
    expect(said).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(said.length).toBeLessThan(200);
  });

  // Where the parser, which recurses, overflows the stack, V8 may end the process.
  const DEEP = ['[', '- ', '{a: ', '? ', 'a: ', ': ', '? - ', 'a: ['].map((opening) => opening.repeat(8000));
  const indented = Array.from({ length: 400 }, (_, at) => `${' '.repeat(at)}a:\n`).join('');
  it.each([...DEEP, indented])('that a file cannot nest too deep to be read: %.8j', async (text) => {
    const cwd = await folderWith({ 'deep.yaml': text });
    expect(await mistakeIn({ cwd, paths: ['deep.yaml'] })).toBe('deep.yaml: nests deeper than 200 levels');
  });

  it.each([
    ['}'.repeat(200_000), 'is larger than 128 KB: name folders or globs instead of single files'],
    [`a: &a [x]\nb:\n${'- *a\n'.repeat(1000)}`, /alias/],
  ])('that a file cannot cost too much to read', async (text, problem) => {
    const cwd = await folderWith({ 'large.yaml': text });
    expect(await mistakeIn({ cwd, paths: ['large.yaml'] })).toMatch(problem);
  });
});

const SOMEBODY = 54_321;

async function jobFolder(): Promise<{ readonly cwd: string; readonly job: string }> {
  const cwd = await folderWith({ 'a.csv': 'text\nhello\n', 'job.yaml': `${SOURCES}onFinish: [/bin/true]\n` });
  return { cwd, job: join(cwd, 'job.yaml') };
}

describe('a job file that somebody else can change is refused', () => {
  it('when everybody can write in it', async () => {
    const { cwd, job } = await jobFolder();
    await chmod(job, 0o666);
    expect(await mistakeIn({ cwd, paths: ['job.yaml'] })).toBe(
      'job.yaml: others can write in this job file, and it decides what is read, where it is sent and what is run: take that right away first (chmod go-w job.yaml)',
    );
  });

  it.runIf(process.geteuid?.() === 0)('when it belongs to another user', async () => {
    const { cwd, job } = await jobFolder();
    await chown(job, SOMEBODY, SOMEBODY);
    expect(await mistakeIn({ cwd, paths: ['job.yaml'] })).toBe(
      'job.yaml: belongs to another user, and a job file decides what is read, where it is sent and what is run: look at it, and run a copy of your own',
    );
  });
});

it('a job file is accepted when the own group can write in it, as with a umask of 002', async () => {
  const { cwd, job } = await jobFolder();
  await chmod(job, 0o664);
  expect((await resolved({ cwd, paths: ['job.yaml'] })).name).toBe('job');
});
