import { createHmac, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { createTemporary } from '../../files/create-file.ts';
import { readWholeFile } from '../../files/open-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { makeControlFolder } from '../control/control-files.ts';

const SEAL = 'seal';
const LABEL = 'guardsweep run.json 1\0';

/**
 * Marks a run directory's run.json as trusted by this user: HMAC-SHA-256 under the user's key, in hex, in
 * `control/seal`. With run.json it covers corpora, guards and, by its hash, the list of sources. It is not part of the
 * record.
 */
export async function sealRun(runDir: string, runJson: string | Buffer, key: Buffer): Promise<void> {
  await makeControlFolder(runDir);
  const file = await createTemporary(sealPath(runDir));
  try {
    await file.writeFile(`${sealOf(runJson, key).toString('hex')}\n`);
  } finally {
    await file.close();
  }
}

/** Whether run.json is the version that this user trusts. */
export async function isSealed(runDir: string, runJson: Buffer, key: Buffer): Promise<boolean> {
  try {
    const text = await readWholeFile(sealPath(runDir), { maxBytes: 128, links: 'refuse' });
    const found = Buffer.from(text.toString().trim(), 'hex');
    const expected = sealOf(runJson, key);
    return found.length === expected.length && timingSafeEqual(found, expected);
  } catch {
    return false;
  }
}

function sealPath(runDir: string): string {
  return join(runDir, RUN_FILES.control, SEAL);
}

function sealOf(runJson: string | Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(LABEL).update(runJson).digest();
}
