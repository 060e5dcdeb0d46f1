import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { GuardFamily } from '../../src/domain/guard/guard-family.ts';
import { readManifest } from '../../src/record/manifest/manifest.ts';
import { Cli, folderWith, guardsweep } from '../helpers/cli.ts';
import { openAiServer } from '../helpers/guards/guard-pool.ts';
import { committedShards, onlyRun, outcomes, until } from '../helpers/run-directory.ts';

/** One model that gives probabilities, one that follows a policy, and the moderations endpoint. */
const SERVED: [family: GuardFamily, model: string, category: string][] = [
  ['llama-guard', 'meta-llama/Llama-Guard-3-8B', 'hate'],
  ['policy', 'openai/gpt-oss-safeguard-20b', 'policy/hate'],
  ['moderations', 'omni-moderation-latest', 'openai/hate'],
];

async function corpus(items = 600) {
  const rows = Array.from({ length: items }, (_, row) => `comment number ${row}`);
  const folder = await folderWith({
    'a.csv': `text\n${rows.join('\n')}\n`,
    'b.jsonl': '{"prompt":"may I?","response":"you may"}\n',
  });
  return { folder, paths: [join(folder, 'a.csv'), join(folder, 'b.jsonl')] };
}

test.each(SERVED)(
  'a run with %s is accounted for, resumed after a kill, and verified',
  async (family, model, category) => {
    const { folder, paths } = await corpus();
    const policy = join(folder, 'policy.md');
    await writeFile(policy, '# Forum rules\n\nHate: no attacks.\n');
    let cli: Cli | null = null;
    // Killed in the middle: the rest is judged by `resume`.
    const script = ({ number }: { readonly number: number }): void => {
      if (number === (family === 'moderations' ? 10 : 300)) cli?.kill('SIGKILL');
    };
    const server = await openAiServer({ family, model, script });
    const out = join(folder, 'runs');
    const guard = ['--guard', server.address, ...(family === 'policy' ? ['--guard-policy', policy] : [])];
    cli = new Cli(['enqueue', ...paths, '--out', out, ...guard]);
    expect((await cli.finished()).signal).toBe('SIGKILL');
    const dir = await onlyRun(out);
    // What it is judged by is frozen with the run.
    await writeFile(policy, 'Everything is allowed.');
    const { status, stdout } = await guardsweep(['resume', dir]);
    expect(stdout).toContain('Judged 601 of 601 items');
    expect(stdout).toContain('those verdicts have no fingerprint');
    expect(status).toBe(0);
    const lines = await outcomes(dir);
    expect(lines).toHaveLength(601);
    expect(lines.every((line) => line.status === 'ok' && line.endpoint === server.address)).toBe(true);
    expect(new Set(lines.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    expect(lines[0]!.fingerprint).toMatch(/^declared:[0-9a-f]{64}$/);
    expect(lines.some((line) => line.subcategory_flags?.includes(category))).toBe(true);
    expect((await readManifest(dir)).fingerprints[0]!.artifacts).toMatchObject({ family, model });
    expect((await guardsweep(['verify', dir])).status).toBe(0);
  },
);

const LLAMA = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-3-8B' } as const;

test('a model that declares something else in the middle of a run is the headline of its summary', async () => {
  const { folder, paths } = await corpus(2000);
  let answeredBy = 'one';
  const out = join(folder, 'runs');
  const script = async ({ number }: { readonly number: number }): Promise<void> => {
    if (number !== 1500) return;
    await until(async () => (await committedShards(await onlyRun(out))) > 0, 'a commit');
    answeredBy = 'two';
  };
  const server = await openAiServer({ ...LLAMA, script, answeredBy: () => answeredBy });
  const args = ['enqueue', ...paths, '--out', out, '--guard', server.address];
  const { status, stdout } = await guardsweep(args);
  expect(stdout).toContain('Judged 2,001 of 2,001 items');
  expect(stdout.split('\n').slice(0, 3).join('\n')).toContain('ATTENTION: 2 different models judged');
  expect(status).toBe(0);
});
