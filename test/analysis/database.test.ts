import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Database } from '../../src/analysis/database.ts';
import { isDiskFull } from '../../src/files/disk-full.ts';
import { temporaryFolder } from '../helpers/cli.ts';

const { signal } = new AbortController();

it('a full disk is told as the system tells it', async () => {
  const folder = join(await temporaryFolder(), 'spilled');
  const filling = Database.spillingTo(folder, (database) =>
    database.load(`COPY (SELECT range FROM range(100000)) TO '/dev/full' (FORMAT csv)`, [], signal),
  );
  expect(isDiskFull(await filling.catch((error: unknown) => error))).toBe(true);
  expect(existsSync(folder)).toBe(false);
});
