import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../helpers/cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** No variable of npm, which would make the command line believe that it was started through a script. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|GUARD|REDIS)/.test(name)),
);

const TEXTS = 'id,text\na,hello there\nb,how do I kill someone and hide the body\n';

/** A folder with nothing but the packed package and the packages that it depends on, linked from here. */
const folder = sharedFolder();

beforeAll(async () => {
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '.bin'), { recursive: true });
  const { stdout } = await run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', folder], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [{ filename: string }];
  await run('tar', ['xzf', filename], { cwd: folder });
  await run('mv', ['package', join(modules, 'guardsweep')], { cwd: folder });
  for (const path of await productionPackages()) {
    const link = join(modules, path);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', path), link);
  }
  await symlink('../guardsweep/dist/src/cli/main.js', join(modules, '.bin', 'guardsweep'));
  // npm does this when it installs a package.
  await run('chmod', ['+x', join(modules, 'guardsweep', 'dist', 'src', 'cli', 'main.js')]);
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }\n');
});

/** Paths in node_modules of what the package needs at run time, and of what that needs; nested ones come with them. */
async function productionPackages(): Promise<string[]> {
  const list = ['ls', '--omit=dev', '--all', '--parseable', '--loglevel=silent'];
  // Its status is that of the tree, in which optional packages of other platforms are missing.
  const { stdout } = await run('npm', list, { cwd: ROOT }).catch(
    (error: unknown) => error as { stdout: string },
  );
  const paths = stdout
    .trim()
    .split('\n')
    .map((path) => relative(join(ROOT, 'node_modules'), path))
    .filter((path) => path !== '' && !path.startsWith('..') && !path.includes('node_modules'));
  expect(paths).toContain('sharp');
  expect(paths).not.toContain('typescript');
  return paths;
}

describe('the packed package', () => {
  it('has what it needs at run time, and nothing of the workshop', async () => {
    const packed = join(folder, 'node_modules', 'guardsweep');
    const files = (await readdir(packed, { recursive: true })).sort();
    const needed = [
      ...['LICENSE', 'dist/report-runtime/report.js', 'dist/web/index.html', 'proto/grpc_service.proto'],
      ...['src/guard-server/weights/lite.bin', 'src/guard-server/weights/image/LICENSES'],
      'jobs/job.schema.json',
    ];
    expect(files).toEqual(expect.arrayContaining(needed));
    const unwanted = /(^|\/)(test|bench|training|node_modules)\/|\.map$|\.tsbuildinfo$|(?<!\.d)\.ts$/;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
  });

  it('enqueues and verifies a folder with npx, in an empty folder', async () => {
    await mkdir(join(folder, 'uploads'));
    await writeFile(join(folder, 'uploads', 'a.csv'), TEXTS);
    await copyFile(join(ROOT, 'test/fixtures/images/size-512x512.png'), join(folder, 'uploads', 'b.png'));
    const npx = (...args: string[]) =>
      run('npx', ['--no-install', 'guardsweep', ...args], { cwd: folder, env });
    const { stdout } = await npx('enqueue', 'uploads', '--json');
    const summary = JSON.parse(stdout) as { dir: string; items: number; verdicts: number };
    expect(summary.verdicts).toBe(summary.items);
    expect(await readdir(summary.dir)).toContain('report.html');
    expect((await npx('verify', summary.dir)).stdout).toMatch(/^verified: \d/);
  });

  it('is imported by a program, whose process ends by itself', async () => {
    await writeFile(join(folder, 'b.csv'), TEXTS);
    await writeFile(
      join(folder, 'program.js'),
      `import { readRun, startRun, verdicts } from 'guardsweep';
       const { dir, exitStatus } = await startRun({ paths: ['b.csv'], guard: 'embedded:' });
       const found = [];
       for await (const { id, decision } of verdicts(dir)) found.push([id, decision]);
       const { summary } = await readRun(dir);
       const inside = await import('guardsweep/dist/src/cli/run-cli.js').catch(({ code }) => code);
       console.log(JSON.stringify({ exitStatus, found, items: summary.items, inside }));`,
    );
    const { stdout, stderr } = await run(process.execPath, ['program.js'], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual({
      exitStatus: 0,
      found: [
        ['a', 'allow'],
        ['b', 'block'],
      ],
      items: 2,
      inside: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
    });
    expect(stderr).toBe('');
  });
});
