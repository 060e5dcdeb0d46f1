import { cp, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { withList } from '../config/settings/markdown-list.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';

const root = resolve(import.meta.dirname, '../..');

/** A row for each kind of file: what became of its items with the demonstration guard. */
function table(lines: readonly OutcomeLine[]): string {
  const kindOf = ({ source }: OutcomeLine) => /(?:\.tar)?\.\w+$/.exec(source.path)![0];
  const rows = [...new Set(lines.map(kindOf))].sort().map((kind) => {
    const items = lines.filter((line) => kindOf(line) === kind);
    const judged = items.filter(({ error }) => error === null);
    const flagged = judged.filter(({ decision }) => decision !== 'allow');
    const codes = items.flatMap(({ error }) => (error === null ? [] : [`\`${error.code}\``]));
    const reasons = [...new Set(codes)].map(
      (code) => `${codes.filter((one) => one === code).length} ${code}`,
    );
    return `| \`${kind}\` | ${items.length} | ${judged.length} | ${flagged.length} | ${reasons.join(', ')} |`;
  });
  return [
    '| Kind | Items | Judged | Flagged | Not judged |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

// `npx vitest run --config test/e2e/vitest.config.ts test/e2e/sample-uploads.test.ts -u` writes the table again.
test('one of each kind of file is judged by one command, as the documentation tells', async () => {
  const cwd = await temporaryFolder();
  await cp(resolve(root, 'jobs/sample-uploads'), join(cwd, 'uploads'), { recursive: true });
  const { status, stderr } = await guardsweep(['enqueue', 'uploads'], { cwd });
  expect({ status, stderr }).toMatchObject({ status: 5 });
  const run = await onlyRun(join(cwd, 'runs'));
  const lines = await outcomes(run);

  const files = await readdir(join(cwd, 'uploads'));
  expect(new Set(lines.map(({ source }) => source.path))).toEqual(
    new Set(files.map((name) => `uploads/${name}`)),
  );
  expect(await guardsweep(['verify', run], { cwd })).toMatchObject({ status: 0 });

  const page = await readFile(resolve(root, 'docs/job-files.md'), 'utf8');
  const style = await resolveConfig(resolve(root, 'package.json'));
  const derived = await format(withList(page, 'kinds', table(lines)), { ...style, parser: 'markdown' });
  await expect(derived).toMatchFileSnapshot('../../docs/job-files.md');
});
