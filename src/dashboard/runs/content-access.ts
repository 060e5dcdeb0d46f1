import { RUN_FILES } from '../../files/run-files.ts';
import type { RunRecord } from '../../config/run-config.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import { readRunKey } from '../../runs/trust/run-key.ts';
import { isSealed } from '../../runs/trust/run-seal.ts';
import type { ContentProblem } from '../api/items.ts';
import type { Roots } from './roots.ts';

/** Why the content of a run may not be read; null: it may. */
export type ContentRefusal = {
  readonly reason: Extract<ContentProblem, 'not_your_run' | 'outside_root'>;
  readonly message: string;
} | null;

interface AccessRules {
  readonly roots: Roots;
  /** Path of this user's key file, see runKeyFile. */
  readonly keyFile: string | null;
}

/**
 * Whether the corpora of a run may be read for the dashboard: this user created the run on this machine, or has trusted
 * it, and all of them are in the folders that may be read. A run from elsewhere could name any file.
 */
export async function contentRefusal(
  dir: string,
  { config }: RunRecord,
  { roots, keyFile }: AccessRules,
): Promise<ContentRefusal> {
  const key = await readRunKey(keyFile);
  const runJson = await readRunFile(dir, RUN_FILES.run);
  if (key === null || !(await isSealed(dir, runJson, key))) {
    return { reason: 'not_your_run', message: 'this run was not created by you on this machine' };
  }
  for (const { path } of config.sources) {
    if (!(await roots.contains(path))) {
      const message = `${escapeText(path)} is in no folder that the dashboard may read, or is gone: see --root`;
      return { reason: 'outside_root', message };
    }
  }
  return null;
}
