import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { findRestriction } from '../../../src/domain/restriction/restriction.ts';
import { site, type Scan, type Site } from './rescans.ts';

const COUNT = 40;

async function siteWithRows(): Promise<Site> {
  const made = await site();
  const rows = Array.from({ length: COUNT }, (_, row) => `r${row},marker number ${row}\n`);
  await writeFile(join(made.uploads, 'a.csv'), `id,text\n${rows.join('')}again,marker number 0\n`);
  await writeFile(join(made.folder, 'half.yaml'), 'thresholds: { default: { review: 0.3, block: 0.6 } }\n');
  return made;
}

const HALF = { ...DEFAULT_POLICY, thresholds: { default: { review: 0.3, block: 0.6 } } };
const WITH = { includeContent: true, policy: 'half.yaml' };

/** Every line to review or block, unless it is restricted, holds its text, and no other does. */
function expectSnippets({ lines, summary }: Scan): void {
  expect(lines).toHaveLength(COUNT + 1);
  expect(summary.by_decision.allow * summary.by_decision.review * summary.by_decision.block).toBeGreaterThan(
    0,
  );
  for (const line of lines) {
    const isHeld = line.decision !== 'allow' && findRestriction(HALF, line) === null;
    expect([line.seq, line.snippet]).toEqual([line.seq, isHeld ? `marker number ${line.seq % COUNT}` : null]);
  }
}

it('outcomes hold a piece of what is to review or block, judged and reused', async () => {
  const { scan, folder } = await siteWithRows();
  const plain = await scan({ policy: 'half.yaml' });
  expect(plain.lines.map(({ snippet }) => snippet)).toEqual(Array(COUNT + 1).fill(null));
  expect(await readFile(join(plain.run.dir, 'flagged.csv'), 'utf8')).not.toContain('marker');

  const again = await scan(WITH);
  expect(again.summary).toMatchObject({ reused: COUNT + 1 });
  expectSnippets(again);
  const fresh = await scan({ ...WITH, store: join(folder, 'other') });
  expect(fresh.summary).toMatchObject({ reused: 0 });
  expectSnippets(fresh);
  const table = await readFile(join(fresh.run.dir, 'flagged.csv'), 'utf8');
  for (const { snippet } of fresh.lines) if (snippet !== null) expect(table).toContain(`,${snippet},`);

  const without = await scan({ policy: 'half.yaml' });
  expect(without.lines.every(({ snippet }) => snippet === null)).toBe(true);
});
