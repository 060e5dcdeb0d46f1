import { silenceConsole } from '../terminal/silent-console.ts';
import { standardError, standardOutput } from '../terminal/standard-streams.ts';
import { dropLostOutput } from './lost-output.ts';
import { watchInterrupts } from '../terminal/interrupt.ts';

// Before the rest is loaded, which takes a moment, and to the very end: an interrupt never ends the process by itself.
const interrupts = watchInterrupts(process, { onKill: () => process.exit(130) });
silenceConsole();
const [stdout, stderr] = [standardOutput(), standardError()];
const lost = dropLostOutput(process, stderr);

const { reportFailure, runCli } = await import('./run-cli.ts');
const { runCommands } = await import('./run/run-commands.ts');

// Node would print the message of what nobody caught, and that can quote content.
process.on('uncaughtException', (error) => process.exit(reportFailure(error, { stderr, env: process.env })));

const { argv, env } = process;
const status = await runCli(
  argv.slice(2),
  { cwd: process.cwd(), env, stdout, stderr, interrupts },
  runCommands,
);

// Taking itself apart, Node would let go of signals before it has ended, and one more interrupt would end it.
process.on('exit', (code) => process.exit(code));

// The only place that sets the exit status.
process.exitCode = await lost.exitStatus(status);
