import { cp, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { expectFile, projectFile, withList } from '../config/settings/markdown-list.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';

/** The kinds of files with how many items each has, then what was flagged and what was not judged. */
function summaryOf(lines: readonly OutcomeLine[]): string {
  const kindOf = ({ source }: OutcomeLine) => /(?:\.tar)?\.\w+$/.exec(source.path)![0];
  const listed = (some: readonly OutcomeLine[], nameOf: (line: OutcomeLine) => string = kindOf) =>
    [...new Set(some.map(nameOf))]
      .sort()
      .map((name) => `\`${name}\` ${some.filter((line) => nameOf(line) === name).length}`)
      .join(', ');
  return [
    `- **Items**: ${listed(lines)}.`,
    `- **Flagged**: ${listed(lines.filter(({ decision, error }) => error === null && decision !== 'allow'))}.`,
    `- **Not judged**: ${listed(
      lines.filter(({ error }) => error !== null),
      (line) => `${kindOf(line)}: ${line.error!.code}`,
    )}.`,
  ].join('\n');
}

// `npx vitest run --config test/e2e/vitest.config.ts test/e2e/sample-uploads.test.ts -u` writes the list again.
test('one of each kind of file is judged by one command, as the documentation tells', async () => {
  const cwd = await temporaryFolder();
  const sample = resolve(import.meta.dirname, '../../jobs/sample-uploads');
  await cp(sample, join(cwd, 'uploads'), { recursive: true });
  const { status, stderr } = await guardsweep(['enqueue', 'uploads'], { cwd });
  expect({ status, stderr }).toMatchObject({ status: 5 });
  const run = await onlyRun(join(cwd, 'runs'));
  const lines = await outcomes(run);

  const files = await readdir(join(cwd, 'uploads'));
  expect(new Set(lines.map(({ source }) => source.path))).toEqual(
    new Set(files.map((name) => `uploads/${name}`)),
  );
  expect(await guardsweep(['verify', run], { cwd })).toMatchObject({ status: 0 });

  const page = 'docs/job-files.md';
  await expectFile(page, withList(await projectFile(page), 'kinds', summaryOf(lines)));
});
