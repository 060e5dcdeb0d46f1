/**
 * Runs a suite of tests: `node test/run.mjs [vitest's arguments]`.
 *
 * A test file that fails is run once more by itself. If it passes then, the suite passes and the file is reported
 * as flaky, with the output of its failure above. Many failing files are no race: they are not run again.
 * Where no file failed, but an error outside of the tests ended the run, all of it is run again: vitest's report
 * does not name the file.
 *
 * Suites that run at the same time share a folder, `GUARDSWEEP_SUITES`: each has a file there during its first run, and
 * none runs a file again while another one's is there. A race that load brings out would only be lost once more.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAX_FILES_AGAIN = 5;
const MAX_WAIT_FOR_OTHERS_MS = 15 * 60_000;
const suites = process.env.GUARDSWEEP_SUITES;
const running = suites && join(suites, `${process.pid}`);
const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const folder = mkdtempSync(join(tmpdir(), 'guardsweep-suite-'));

/** What vitest says of a run: its exit status, and its JSON report, or null if it ended before it wrote one. */
async function run(name, args) {
  const report = join(folder, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  const status = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
  try {
    return { status, report: JSON.parse(readFileSync(report, 'utf8')) };
  } catch {
    return { status, report: null };
  }
}

const filesThatFailed = ({ report }) =>
  (report?.testResults ?? [])
    .filter((file) => file.status === 'failed')
    .map((file) => relative(root, file.name));

/** The arguments that are not test files: those are replaced by the files to run again. */
function optionsOf(args) {
  const at = args.indexOf('--config');
  return at < 0 ? [] : args.slice(at, at + 2);
}

/** Resolves when no other suite is in its first run; after a while in any case, since one may have been killed. */
async function othersDone() {
  const late = performance.now() + MAX_WAIT_FOR_OTHERS_MS;
  while (suites && readdirSync(suites).length > 0 && performance.now() < late) await delay(1000);
}

const args = process.argv.slice(2);
// Ctrl-C reaches vitest too, which then ends; this process waits for that, so that it can remove its folder.
process.on('SIGINT', () => undefined);
try {
  if (running) writeFileSync(running, '');
  const first = await run('first', args);
  if (running) rmSync(running);
  const failed = filesThatFailed(first);
  let { status } = first;
  let failures = first.report?.numFailedTests ?? 0;
  if (status === 1 && first.report && failed.length <= MAX_FILES_AGAIN) {
    await othersDone();
    console.log(
      `\nRunning once more: ${failed.join(' ') || 'everything, after an error outside of the tests'}\n`,
    );
    const again = await run('again', failed.length > 0 ? [...optionsOf(args), ...failed] : args);
    const stillFailing = filesThatFailed(again);
    status = again.status;
    failures = again.report?.numFailedTests ?? failures;
    if (failed.length === 0 && status === 0) console.log('flaky: an error outside of the tests');
    for (const file of failed) {
      if (status === 0 || (again.report && !stillFailing.includes(file))) {
        console.log(`flaky: ${file} failed, and passed when it was run again`);
      }
    }
  }
  if (first.report) console.log(`${first.report.numTotalTests - failures} passed, ${failures} failed`);
  process.exitCode = status;
} finally {
  if (running) rmSync(running, { force: true });
  rmSync(folder, { recursive: true, force: true });
}
