import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { replaceDurably, syncDirectory } from '../../files/durable-write.ts';
import { readWholeFile } from '../../files/open-file.ts';
import { assertNotPurged, readPurged } from '../../record/purged.ts';
import { controlFolder, makeControlFolder } from '../control/control-files.ts';
import { assertOwnRun } from '../trust/own-run.ts';

/** In `control`. */
const HELD_FILE = 'held.json';
const MAX_BYTES = 65_536;

const HOLD = z.strictObject({
  schema: z.literal(1),
  /** ISO 8601, UTC. */
  at: z.string(),
  by: z.string(),
  /** Reason in the words of the person who held it. */
  reason: z.string().nullable(),
});

/** Exempts a run from every deletion. Not part of the record. */
export type Hold = Readonly<z.output<typeof HOLD>>;

/**
 * Reads the hold of a run; null for a run that is not held. Failure('internal') for a hold that cannot be read: it
 * still holds the run.
 */
export async function readHold(runDir: string): Promise<Hold | null> {
  const path = join(controlFolder(runDir), HELD_FILE);
  try {
    return HOLD.parse(
      JSON.parse((await readWholeFile(path, { maxBytes: MAX_BYTES, links: 'refuse' })).toString()),
    );
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Failure('internal', `control/${HELD_FILE} is damaged: hold or release the run again`, {
      cause,
    });
  }
}

/** Holds a run, replacing an earlier hold. Failure('purged') when there is nothing left to hold. */
export async function holdRun(runDir: string, hold: Omit<Hold, 'schema'>): Promise<void> {
  await assertNotPurged(runDir);
  await assertOwnRun(runDir);
  await makeControlFolder(runDir);
  const path = join(controlFolder(runDir), HELD_FILE);
  await replaceDurably(path, `${JSON.stringify({ schema: 1, ...hold }, null, 2)}\n`, `${path}.tmp`);
  // A purge that began in the meantime looks for a hold after it has written its note: one of the two always sees the
  // other.
  if ((await readPurged(runDir)) === null) return;
  await releaseRun(runDir);
  throw new Failure('usage', 'the run is being purged at this moment: look at it again, then hold it');
}

/** Idempotent. */
export async function releaseRun(runDir: string): Promise<void> {
  await assertOwnRun(runDir);
  await makeControlFolder(runDir);
  await rm(join(controlFolder(runDir), HELD_FILE), { force: true });
  await syncDirectory(controlFolder(runDir));
}
