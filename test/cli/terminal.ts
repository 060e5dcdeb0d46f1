import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { CommandContext, RunCommands } from '../../src/cli/context.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { LineWriter } from '../../src/terminal/line-writer.ts';
import { messagesIn } from '../helpers/cli.ts';

export type Remembered = LineWriter & {
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

/** Run commands that a test does not expect to be reached, but for those it gives. */
export function runsWith(given: Partial<RunCommands>): RunCommands {
  const unexpected = async (): Promise<never> => {
    throw new Error('not expected to run');
  };
  return { enqueue: unexpected, resume: unexpected, retry: unexpected, verify: unexpected, ...given };
}

/** Runs a command line as a user would and gives its exit status and what it wrote. */
export async function typed(
  argv: readonly string[],
  options: { runs?: Partial<RunCommands>; context?: Partial<CommandContext> } = {},
): Promise<{ status: number; stdout: string; stderr: string }> {
  const stdout = output();
  const stderr = output();
  const never = new AbortController().signal;
  const status = await runCli(
    argv,
    {
      cwd: import.meta.dirname,
      env: {},
      stdout,
      stderr,
      interrupts: { drain: never, stop: never },
      ...options.context,
    },
    async () => runsWith(options.runs ?? {}),
  );
  return { status, stdout: stdout.text(), stderr: messagesIn(stderr.text()) };
}
