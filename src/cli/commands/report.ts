import type { Command } from 'commander';
import { REPORT_OUT } from '../../config/settings/entries/after-run.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';

const SETTINGS = { out: REPORT_OUT };

/** `report <run dir>`: write the findings of a run as one HTML file. */
export function reportCommand(context: CommandContext): Command {
  return newCommand('report', context, SETTINGS)
    .summary('write the results of a run as one HTML file')
    .description(
      'Write what a run found as one self-contained HTML file: what was and was not judged, what was ' +
        'flagged, scores, errors, guards, and the items to look at first. The file holds paths and ids, but no content. Its ' +
        'path is the last line on stdout.',
    )
    .argument(
      '<run-dir>',
      'run directory, as enqueue printed it, or the name of a run in ./runs, its beginning, or latest',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep report runs/20261121T020000Z-nightly-ab12', 'report.html in the run directory'],
        ['guardsweep report 20261121T020000Z-nightly-ab12 --out nightly.html', 'to another file'],
      ]),
    )
    .action(async (given: string, flags: Flags) => {
      const { out } = await resolveSettings(SETTINGS, { flags, ...context });
      const { cwd, stdout, interrupts } = context;
      const runDir = resolveRunDirectory(given, cwd);
      const signal = interrupts.drain;
      if (out === null) {
        const { writeReport } = await import('../../report/html/write-report.ts');
        stdout.line((await writeReport(runDir, signal)).path);
        return;
      }
      const [{ LineFile }, { collectReport }, { renderReport }] = await Promise.all([
        import('../../analysis/line-file.ts'),
        import('../../report/html/collect-report.ts'),
        import('../../report/html/write-report.ts'),
      ]);
      const html = await renderReport(await collectReport(runDir, signal));
      const file = await LineFile.create(out);
      try {
        await file.write([html]);
      } finally {
        await file.close();
      }
      stdout.line(out);
    });
}
