#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { silenceConsole } from '../terminal/silent-console.ts';
import { standardError, standardOutput } from '../terminal/standard-streams.ts';
import { dropLostOutput } from './lost-output.ts';
import { watchInterrupts } from '../terminal/interrupt.ts';

keepMemoryOutOfCoreDumps();
// Installed before the rest is loaded, which takes a moment, and until the process exits, so an interrupt never kills
// it.
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
 * Keeps the memory of this process, and of those it starts, out of core dumps: it holds content and tokens, and a C++
 * library may crash. Node cannot set RLIMIT_CORE, but on Linux a process can choose which of its memory a dump includes
 * (core(5)). Elsewhere, and where /proc is not mounted, the shell's limit applies.
 */
function keepMemoryOutOfCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Not Linux, or /proc is not mounted.
  }
}
