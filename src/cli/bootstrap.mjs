/**
 * The first step of every npm script. Plain JavaScript without dependencies, because a fresh clone contains nothing
 * else yet. Installs the locked packages and builds if either is missing or out of date, then runs what was asked for.
 *
 *   bootstrap.mjs build                 only install and build
 *   bootstrap.mjs cli <command> …       then run the command line in this process
 *   bootstrap.mjs node <script> …       then run another script with Node
 *   bootstrap.mjs tool <script> …       the same for a script that needs only the packages, not the build
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const lockPath = join(root, '.setup.lock');

/** Prints the problem on stderr and exits with the status for a bad environment. */
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

/**
 * Whether node_modules holds every locked package, judging by the list that npm keeps there. Optional packages may be
 * for another platform.
 */
function isInstalled() {
  const packages = (path) => JSON.parse(readFileSync(join(root, path), 'utf8')).packages;
  const list = join('node_modules', '.package-lock.json');
  if (!existsSync(join(root, list))) return false;
  const installed = packages(list);
  return Object.entries(packages('package-lock.json')).every(
    ([path, { integrity, optional = false }]) =>
      path === '' || (path in installed ? installed[path].integrity === integrity : optional),
  );
}

/** Everything the build depends on. */
const BUILT_FROM = ['bench', 'package-lock.json', 'src', 'training', 'tsconfig.json', 'web', 'workers'];
/** Not build inputs: measurements, and files that the programs load from here at run time. */
const NOT_BUILT_FROM = new Set(['bench/results', 'src/guard-server/weights']);

/** Hashes the names and contents of the build's inputs. Times are useless for copied files. */
function hashInputs() {
  const hash = createHash('sha256');
  const addFile = (path) => {
    const bytes = readFileSync(join(root, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  };
  const addFolder = (path) => {
    const entries = readdirSync(join(root, path), { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const inside = `${path}/${entry.name}`;
      if (NOT_BUILT_FROM.has(inside)) continue;
      if (entry.isDirectory()) addFolder(inside);
      else addFile(inside);
    }
  };
  for (const path of BUILT_FROM) {
    if (!existsSync(join(root, path))) continue;
    if (statSync(join(root, path)).isDirectory()) addFolder(path);
    else addFile(path);
  }
  return hash.digest('hex');
}

const stampPath = join(root, 'dist', '.built');

const isBuilt = () => existsSync(stampPath) && readFileSync(stampPath, 'utf8') === hashInputs();

/** Removes our secrets from the environment, because setting up runs third-party programs. */
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
/** A lock is written instantly; one that is still empty after this long was left by a crash. */
const WRITING_MS = 5000;

/** Content of our lock: host and pid. Whether a process is gone can be checked only on its own host. */
const mine = `${hostname()} ${process.pid}`;

function isStale() {
  try {
    const [host, pid] = readFileSync(lockPath, 'utf8').split(' ');
    if (pid === undefined) return Date.now() - statSync(lockPath).mtimeMs > WRITING_MS;
    if (host !== hostname()) return false;
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Runs `action` in one process at a time; others wait. Removes a lock whose process is gone. */
function withLock(action) {
  const since = Date.now();
  for (let said = false; ;) {
    try {
      writeFileSync(lockPath, mine, { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isStale()) {
      rmSync(lockPath, { force: true });
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

function install() {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // No package here needs its install scripts to work.
  step('installing the locked packages (once)', 'npm', ['ci', ...flags]);
}

function build() {
  // Taken before anything is written: changes made during the build are not in it, and an incomplete build has no
  // stamp.
  const inputs = hashInputs();
  rmSync(stampPath, { force: true });
  const node = (what, ...args) => step(what, process.execPath, args);
  node('bundling the programs (once)', join(root, 'src', 'bundle.mjs'));
  node('building the pages (once)', join(root, 'web', 'build.mjs'));
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(stampPath, inputs);
}

function makeReady({ built }) {
  const isReady = () => isInstalled() && (!built || isBuilt());
  if (isReady()) return;
  withLock(() => {
    if (!isInstalled()) install();
    if (built && !isBuilt()) build();
  });
}

const [what, ...rest] = process.argv.slice(2);
requireNode();
makeReady({ built: what !== 'tool' });
if (what === 'cli') {
  // npm runs scripts in the package's folder, but paths are relative to the user's current folder.
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  delete process.env.INIT_CWD;
  const main = join(root, 'dist', 'src', 'cli', 'main.js');
  process.argv = [process.execPath, main, ...rest];
  await import(pathToFileURL(main).href);
} else if (what === 'node' || what === 'tool') {
  const done = spawnSync(process.execPath, rest, { cwd: root, stdio: 'inherit' });
  process.exit(done.status ?? 1);
} else if (what !== 'build') {
  stop(`bootstrap: expected build, cli, node or tool, not ${String(what)}`, 2);
}
