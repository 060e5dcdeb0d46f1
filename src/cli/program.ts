import type { Command } from 'commander';
import { ENVIRONMENT } from '../config/settings/entries/environment.ts';
import { toolVersion } from '../config/tool-version.ts';
import { cancelCommand, continueCommand, pauseCommand } from './commands/control.ts';
import { diffCommand } from './commands/diff.ts';
import { doctorCommand } from './commands/doctor.ts';
import { enqueueCommand } from './commands/enqueue.ts';
import { exportCommand } from './commands/export.ts';
import { fingerprintCommand } from './commands/fingerprint.ts';
import { gcCommand } from './commands/gc.ts';
import { guardCommand } from './commands/services/guard.ts';
import { helpCommand } from './commands/help.ts';
import { normalizeCommand } from './commands/normalize.ts';
import { preflightCommand } from './commands/preflight.ts';
import { replayCommand } from './commands/replay.ts';
import { reportCommand } from './commands/report.ts';
import { resumeCommand, retryCommand } from './commands/resume-and-retry.ts';
import { scheduleCommand, schedulerCommand } from './commands/services/scheduler.ts';
import { runsCommand } from './commands/runs.ts';
import { serveCommand } from './commands/services/serve.ts';
import { sinkCommand } from './commands/services/sink.ts';
import { statusCommand } from './commands/status.ts';
import { verifyCommand } from './commands/verify.ts';
import { workerCommand } from './commands/services/worker.ts';
import type { CommandContext, LoadRuns, ReportStatus } from './context.ts';
import { examples, HELP_COLUMNS, newCommand } from './new-command.ts';

const EXIT_STATUSES = `
Exit status:
  0    finished, every item judged; a worker, sink or server that was told to end
  1    internal error, or a record that failed verification
  2    wrong usage or configuration; nothing was written
  3    finished, a gate of --fail-if tripped
  4    no guard or Redis to work with: not there, not in time, or another one than asked for
  5    finished, some items not judged (0 with --allow-errors)
  6    the run was purged: only its counts and its chain head are kept
  130  interrupted or cancelled; guardsweep resume finishes the run. Or told to end, and work was abandoned
`;

/** The whole command line. */
export function buildProgram(context: CommandContext, loadRuns: LoadRuns, report: ReportStatus): Command {
  const program = newCommand('guardsweep', context);
  return program
    .description('Moderate stored content in batches and leave an audit record that can be verified.')
    .usage('<command> [flags]')
    .version(toolVersion(), '-V, --version', 'show the version')
    .helpCommand(false)
    .addCommand(enqueueCommand(context, loadRuns, report))
    .addCommand(resumeCommand(context, loadRuns, report))
    .addCommand(retryCommand(context, loadRuns, report))
    .addCommand(verifyCommand(context, loadRuns, report))
    .addCommand(exportCommand(context, report))
    .addCommand(reportCommand(context))
    .addCommand(replayCommand(context))
    .addCommand(diffCommand(context))
    .addCommand(statusCommand(context))
    .addCommand(pauseCommand(context))
    .addCommand(continueCommand(context))
    .addCommand(cancelCommand(context))
    .addCommand(runsCommand(context, report))
    .addCommand(gcCommand(context))
    .addCommand(workerCommand(context))
    .addCommand(sinkCommand(context))
    .addCommand(schedulerCommand(context, loadRuns))
    .addCommand(scheduleCommand(context, loadRuns, report))
    .addCommand(preflightCommand(context))
    .addCommand(normalizeCommand(context))
    .addCommand(guardCommand(context))
    .addCommand(serveCommand(context))
    .addCommand(fingerprintCommand(context))
    .addCommand(doctorCommand(context))
    .addCommand(helpCommand(context, program))
    .addHelpText(
      'after',
      environmentHelp(context.stdout.columns ?? HELP_COLUMNS) +
        EXIT_STATUSES +
        examples([
          ['guardsweep enqueue ./uploads', 'moderate a folder'],
          ['guardsweep help enqueue all', 'all flags of a command'],
        ]),
    );
}

const INDENT = 2;
const GAP = 2;
const MIN_HELP_COLUMNS = 40;

/** Environment variables and their meanings in two columns, as wide as the terminal. */
function environmentHelp(columns: number): string {
  const nameWidth = Math.max(...ENVIRONMENT.map(({ name }) => name.length));
  const left = INDENT + nameWidth + GAP;
  const lines = ENVIRONMENT.flatMap(({ name, help }) => {
    const [first, ...more] = wrapped(help, Math.max(MIN_HELP_COLUMNS, columns - left));
    return [
      `${' '.repeat(INDENT)}${name.padEnd(nameWidth + GAP)}${first}`,
      ...more.map((line) => `${' '.repeat(left)}${line}`),
    ];
  });
  return `\nEnvironment:\n${lines.join('\n')}\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
