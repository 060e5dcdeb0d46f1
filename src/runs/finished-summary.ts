import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PlanSurvey } from '../ingest/survey-plan.ts';
import { RUN_FILES } from '../sink/run-files.ts';
import { type Summary } from '../sink/summary.ts';
import { listEpochs } from '../sink/verdict-log/epochs.ts';

/**
 * The summary of a run whose latest pass is closed and has its manifest, written by the last epoch that was claimed;
 * null while there is work left.
 */
export async function finishedSummary(
  runDir: string,
  survey: Pick<PlanSurvey, 'closed' | 'latestPass'>,
): Promise<Summary | null> {
  if (!survey.closed.has(survey.latestPass)) return null;
  try {
    const manifest = JSON.parse(await readFile(join(runDir, RUN_FILES.manifest), 'utf8')) as {
      pass: number;
      epoch: number;
    };
    if (manifest.pass !== survey.latestPass) return null;
    if ((await listEpochs(runDir)).at(-1) !== manifest.epoch) return null;
    return JSON.parse(await readFile(join(runDir, RUN_FILES.summary), 'utf8')) as Summary;
  } catch {
    return null;
  }
}
