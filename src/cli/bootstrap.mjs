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
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
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

function newestBelow(folder, except) {
  if (!existsSync(folder)) return 0;
  let newest = statSync(folder).mtimeMs;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === except) continue;
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
    newestBelow(join(root, 'training')),
    newestBelow(join(root, 'bench'), 'results'),
    newestBelow(join(root, 'web')),
    mtime(join(root, 'tsconfig.json')),
    mtime(join(root, 'package-lock.json')),
  ];
  return mtime(join(root, 'dist', '.built')) < Math.max(...inputs);
}

/** Setting up runs other people's programs: they get no secret of ours. */
function withoutSecrets(env) {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(GUARD|GUARDSWEEP|REDIS)_/i.test(name)),
  );
}

/** Runs a step with its output on stderr, since stdout belongs to the command that was asked for. */
function step(what, command, args) {
  process.stderr.write(`guardsweep: ${what}\n`);
  const done = spawnSync(command, args, {
    cwd: root,
    env: withoutSecrets(process.env),
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (done.error) stop(`could not run ${command}: ${done.error.message}`);
  if (done.status !== 0) {
    process.stderr.write(done.stdout);
    stop(`${what} failed`);
  }
}

/** Another process may be installing all the packages. */
const MAX_WAIT_MS = 15 * 60_000;
const LOOK_EVERY_MS = 100;
/** A lock is written in an instant; one that still says nothing after this long was left by a crash. */
const WRITING_MS = 5000;

/** When a process started, in clock ticks since the machine did (proc(5), field 22); null where that is not known. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Whether the process that wrote a lock is gone. A number alone may belong to another process by now. */
function isStale(text) {
  try {
    const { host, pid, start } = JSON.parse(text);
    if (host !== hostname()) return false;
    return !isAlive(pid) || (start !== null && startOf(pid) !== start);
  } catch {
    return Date.now() - mtime(lockPath) > WRITING_MS;
  }
}

/** The text of the lock; null when there is none. */
function readLock() {
  try {
    return readFileSync(lockPath, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Removes a stale lock, but puts back one that another process took in the meantime. */
function removeStale(text) {
  const aside = `${lockPath}.${process.pid}`;
  try {
    renameSync(lockPath, aside);
    if (readFileSync(aside, 'utf8') !== text) linkSync(aside, lockPath);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** One process makes ready at a time; others wait. A lock left by a process that is gone is taken over. */
function locked(action) {
  const mine = JSON.stringify({ host: hostname(), pid: process.pid, start: startOf(process.pid) });
  const since = Date.now();
  let said = false;
  for (;;) {
    try {
      writeFileSync(lockPath, mine, { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const text = readLock();
    if (text === null) continue;
    if (isStale(text)) {
      removeStale(text);
      continue;
    }
    if (!said) process.stderr.write('guardsweep: waiting for another process that is setting up\n');
    said = true;
    if (Date.now() - since > MAX_WAIT_MS) {
      stop(`another process has been setting up for too long; if there is none, remove ${lockPath}`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
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
        // No package here needs a script of its own to work.
        '--ignore-scripts',
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
      step('bundling the image model (once)', process.execPath, [
        join(root, 'src', 'guard-server', 'lite-image', 'bundle.mjs'),
      ]);
      step('building the pages (once)', process.execPath, [join(root, 'web', 'build.mjs')]);
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
