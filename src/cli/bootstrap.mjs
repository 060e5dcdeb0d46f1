/**
 * What every npm script runs first. Plain JavaScript without dependencies, because on a fresh clone nothing
 * else exists yet: it installs the locked packages and compiles the sources when either is missing or older
 * than what it comes from, then does what it was asked to.
 *
 *   bootstrap.mjs build                 only make ready
 *   bootstrap.mjs cli <command> …       then run the command line in this process
 *   bootstrap.mjs node <script> …       then run another script with Node
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const lockPath = join(root, '.setup.lock');

/** Says what is wrong on stderr and ends with the status of a bad environment. */
function stop(message, status = 1) {
  process.stderr.write(`guardsweep: ${message}\n`);
  process.exit(status);
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    stop(`needs Node 20.19 or newer; this is ${process.versions.node}`, 2);
  }
}

const mtime = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function newestBelow(folder) {
  if (!existsSync(folder)) return 0;
  let newest = statSync(folder).mtimeMs;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestBelow(path) : statSync(path).mtimeMs);
  }
  return newest;
}

const installStale = () =>
  mtime(join(root, 'node_modules', '.package-lock.json')) < mtime(join(root, 'package-lock.json'));

function buildStale() {
  const inputs = [
    newestBelow(join(root, 'src')),
    newestBelow(join(root, 'workers')),
    newestBelow(join(root, 'bench')),
    mtime(join(root, 'tsconfig.json')),
  ];
  return mtime(join(root, 'dist', '.built')) < Math.max(...inputs);
}

/** Runs a step with its output on stderr, since stdout belongs to the command that was asked for. */
function step(what, command, args) {
  process.stderr.write(`guardsweep: ${what}\n`);
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (done.error) stop(`could not run ${command}: ${done.error.message}`);
  if (done.status !== 0) {
    process.stderr.write(done.stdout);
    stop(`${what} failed`);
  }
}

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** One process makes ready at a time; others wait. A lock left by a process that is gone is taken over. */
function locked(action) {
  for (;;) {
    try {
      writeFileSync(lockPath, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const holder = Number(existsSync(lockPath) ? readFileSync(lockPath, 'utf8') : 0);
      if (holder > 0 && !alive(holder)) rmSync(lockPath, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
  try {
    action();
  } finally {
    rmSync(lockPath, { force: true });
  }
}

function makeReady() {
  if (!installStale() && !buildStale()) return;
  locked(() => {
    if (installStale()) {
      step('installing the locked packages (once)', 'npm', [
        'ci',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
      ]);
    }
    if (buildStale()) {
      const started = new Date();
      step('compiling (once)', process.execPath, [
        join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
        '-p',
        root,
      ]);
      mkdirSync(join(root, 'dist'), { recursive: true });
      writeFileSync(join(root, 'dist', '.built'), started.toISOString());
    }
  });
}

requireNode();
makeReady();

const [what, ...rest] = process.argv.slice(2);
if (what === 'cli') {
  // npm runs scripts in the package's folder; paths are meant from where the user stands.
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  delete process.env.INIT_CWD;
  const main = join(root, 'dist', 'src', 'cli', 'main.js');
  process.argv = [process.execPath, main, ...rest];
  await import(pathToFileURL(main).href);
} else if (what === 'node') {
  const done = spawnSync(process.execPath, rest, { cwd: root, stdio: 'inherit' });
  process.exit(done.status ?? 1);
} else if (what !== 'build') {
  stop(`bootstrap: expected build, cli or node, not ${String(what)}`, 2);
}
