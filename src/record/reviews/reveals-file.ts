import { hash } from 'node:crypto';
import { join } from 'node:path';
import { ChainedFile } from '../../files/chained-file.ts';
import { REVEALS_FILE, RUN_FILES } from '../../files/run-files.ts';
import { readRunFile } from '../read-run-file.ts';

/** Opens the log of content that people were shown in a run: a chain that begins with the hash of run.json. */
export async function openReveals(runDir: string): Promise<ChainedFile> {
  const name = `${RUN_FILES.review}/${REVEALS_FILE}`;
  const genesis = hash('sha256', await readRunFile(runDir, RUN_FILES.run));
  return new ChainedFile({ path: join(runDir, name), name, genesis, take: () => undefined });
}
