import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, onTestFinished } from 'vitest';

/** The built command line. */
export const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** Variables that change what a command does or says; a test sets those it is about. */
const OURS = /^(GUARD|OPENAI|REDIS|npm_)/;

export interface Finished {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command line in a process of its own. */
export class Cli {
  readonly child: ChildProcess;
  stdout = '';
  /** As it was written: JSON lines of a process that keeps running. */
  log = '';
  readonly #closed: Promise<unknown>;

  constructor(
    args: readonly string[],
    options: { cwd?: string; env?: NodeJS.ProcessEnv; stdin?: 'pipe' } = {},
  ) {
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name)));
    this.child = spawn(process.execPath, [MAIN, ...args], {
      cwd: options.cwd ?? process.cwd(),
      env: { ...inherited, ...options.env },
      stdio: [options.stdin ?? 'ignore', 'pipe', 'pipe'],
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.log += text));
    this.#closed = once(this.child, 'close');
    // A test that fails half way leaves no process behind.
    onTestFinished(async () => {
      this.child.kill('SIGKILL');
      await this.#closed;
    });
  }

  /** Its messages, as people would see them. */
  get stderr(): string {
    return messagesIn(this.log);
  }

  async finished(): Promise<Finished> {
    await this.#closed;
    const { exitCode: status, signalCode: signal } = this.child;
    return { status, signal, stdout: this.stdout, stderr: this.stderr };
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/** What was written to stderr, with the message in place of each whole line of a log in JSON. */
export const messagesIn = (log: string): string => {
  const messageOf = (line: string): string => (JSON.parse(line) as { message: string }).message;
  return log.replaceAll(/^\{"time":.*\}\n/gm, (line) => `guardsweep: ${messageOf(line)}\n`);
};

export function guardsweep(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Finished> {
  return new Cli(args, options).finished();
}

/** A folder that is removed when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'guardsweep-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder for all tests of a file. */
export function sharedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'guardsweep-test-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** An open file that is closed when the test is over. */
export async function openedFile(path: string): Promise<FileHandle> {
  const file = await open(path);
  onTestFinished(() => file.close());
  return file;
}

/** A temporary folder with these files, by their paths in it. */
export async function folderWith(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const folder = await temporaryFolder();
  await writeFiles(folder, files);
  return folder;
}

export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** The run directory that `enqueue` printed as its last line. */
export const printedRun = ({ stdout }: Pick<Finished, 'stdout'>): string =>
  stdout.trimEnd().split('\n').at(-1)!;
