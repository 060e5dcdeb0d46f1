import { plural } from '../../domain/text/plural.ts';
import { verifyRun } from '../../record/verify/verify.ts';
import type { RunUi, VerifyAgainst } from '../context.ts';

/** Verifies a record and prints the result; returns the exit status. */
export async function verifyAndReport(
  runDir: string,
  { head, headFile, publicKey }: VerifyAgainst,
  ui: RunUi,
): Promise<number> {
  const report = await verifyRun(runDir, {
    signal: ui.interrupts.drain,
    ...(head === null ? {} : { head }),
    ...(headFile === null ? {} : { headFile }),
    ...(publicKey === null ? {} : { publicKey }),
  });
  if (ui.json) ui.stdout.json(report);
  else if (report.ok) {
    const { items, verdicts, errors, lostToDamage } = report;
    ui.stdout.line(
      `verified: ${items} ${plural(items, 'item')} = ${verdicts} ${plural(verdicts, 'verdict')} + ${errors} ${plural(errors, 'error')}; chain head ${report.head}`,
    );
    if (lostToDamage > 0)
      ui.stdout.line(
        `${lostToDamage} ${plural(lostToDamage, 'outcome')} had been damaged before the run was finished, and made again`,
      );
    if (report.signature === 'valid') ui.stdout.line('the signature is valid');
    if (report.signature === 'unchecked')
      ui.stdout.line('it is signed, but the signature was not checked: give --public-key FILE');
  } else ui.stdout.line(`does not hold: ${report.problem}`);
  return report.ok ? 0 : 1;
}
