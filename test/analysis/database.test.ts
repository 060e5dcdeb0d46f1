import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Database } from '../../src/analysis/database.ts';
import { loadLines } from '../../src/analysis/load-lines.ts';
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

it('a query without room to spill is a failure that says so, and not a line that is no outcome', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'verdicts.jsonl');
  await writeFile(path, '{"seq":0}\n');
  const starved = Database.spillingTo(join(folder, 'spilled'), async (database) => {
    await database.load(`SET memory_limit = '1MB'`, [], signal);
    await loadLines(database, 'CREATE TABLE t AS SELECT * FROM read_json($1)', path, signal);
  });
  await expect(starved).rejects.toMatchObject({
    kind: 'service',
    message: 'a query ran out of memory, or of disk space for temporary data',
  });
});
