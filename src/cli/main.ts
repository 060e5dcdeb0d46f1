#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { silenceConsole } from '../terminal/silent-console.ts';
import { standardError, standardOutput } from '../terminal/standard-streams.ts';
import { dropLostOutput } from './lost-output.ts';
import { watchInterrupts } from '../terminal/interrupt.ts';

keepMemoryOutOfCoreDumps();
// Before the rest is loaded, which takes a moment, and until the process exits: an interrupt never kills the process.
const interrupts = watchInterrupts(process, { onKill: () => process.exit(130) });
silenceConsole();
const [stdout, stderr] = [standardOutput(), standardError()];
const lost = dropLostOutput(process, stderr);

const { reportFailure, runCli } = await import('./run-cli.ts');

// Node would print the message of an uncaught error, which can quote content.
process.on('uncaughtException', (error) => process.exit(reportFailure(error, { stderr, env: process.env })));

const { argv, env } = process;
const status = await runCli(
  argv.slice(2),
  { cwd: process.cwd(), env, stdout, stderr, interrupts },
  async () => (await import('./run/run-commands.ts')).runCommands,
);

// Node removes its signal handlers before it has shut down. One more interrupt would then kill the process.
process.on('exit', (code) => process.exit(code));

// The only place that sets the exit status.
process.exitCode = await lost.exitStatus(status);

/**
 * On Linux, keeps the memory of this process, and of those that it starts, out of core dumps: it holds content and tokens,
 * and a library written in C++ may crash. Node cannot set RLIMIT_CORE; the kernel lets a process say which of its memory a
 * dump holds (core(5)): none. Elsewhere, and where /proc is not mounted, the limit of the shell holds.
 */
function keepMemoryOutOfCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Not Linux, or no /proc.
  }
}
