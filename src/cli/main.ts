import { reportFailure, runCli } from './run-cli.ts';
import { runCommands } from './run-commands.ts';
import { watchInterrupts } from './interrupt.ts';

/** A reader that went away, as in `guardsweep … | head`, ends its stream and nothing else. */
function survivePipeEnd(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

// Node would print the message of what nobody caught, and that can quote content.
process.on('uncaughtException', (error) => process.exit(reportFailure(error, process)));

process.stdout.on('error', survivePipeEnd);
process.stderr.on('error', survivePipeEnd);

const interrupts = watchInterrupts(process, { onKill: () => process.exit(130) });

// The only place that sets the exit status.
process.exitCode = await runCli(
  process.argv.slice(2),
  { cwd: process.cwd(), env: process.env, stdout: process.stdout, stderr: process.stderr, interrupts },
  runCommands,
);
interrupts.end();
