import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import type { CommandContext, RunCommands } from '../../src/cli/context.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { LineWriter } from '../../src/terminal/line-writer.ts';
import { messagesIn } from '../helpers/cli.ts';

type Remembered = LineWriter & {
  text(): string;
  /** Resolves when something has been written. */
  readonly begun: Promise<unknown>;
};

/** A writer that remembers what was written to it. */
export function output(terminal: { readonly columns: number } | null = null): Remembered {
  const stream: PassThrough & { isTTY?: boolean; columns?: number } = new PassThrough();
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  if (terminal !== null) {
    stream.isTTY = true;
    stream.columns = terminal.columns;
  }
  return Object.assign(new LineWriter(stream), { text: () => text, begun: once(stream, 'data') });
}

const never = new AbortController().signal;

/** Run commands that a test does not expect to be reached, but for those it gives. */
function runsWith(given: Partial<RunCommands>): RunCommands {
  const unexpected = async (): Promise<never> => {
    throw new Error('not expected to run');
  };
  return { enqueue: unexpected, resume: unexpected, retry: unexpected, verify: unexpected, ...given };
}

/** The program with its commands, none of which is run. */
export function testProgram(): Command {
  const interrupts = { drain: never, stop: never };
  const context = { cwd: '/', env: {}, stdout: output(), stderr: output(), interrupts };
  return buildProgram(
    context,
    async () => runsWith({}),
    () => undefined,
  );
}

/** Runs a command line as a user would and gives its exit status and what it wrote. */
export async function typed(
  argv: readonly string[],
  options: { runs?: Partial<RunCommands>; context?: Partial<CommandContext> } = {},
): Promise<{ status: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [output(), output()];
  const interrupts = { drain: never, stop: never };
  const context = { cwd: import.meta.dirname, env: {}, stdout, stderr, interrupts, ...options.context };
  const status = await runCli(argv, context, async () => runsWith(options.runs ?? {}));
  return { status, stdout: stdout.text(), stderr: messagesIn(stderr.text()) };
}
