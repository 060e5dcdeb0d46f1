import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { GuardFamily } from '../../src/domain/guard/guard-family.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { closeAfterEach, openAiServer } from '../helpers/guards/guard-pool.ts';
import type { OpenAiServer } from '../helpers/guards/openai-server.ts';

closeAfterEach();

const SERVED: readonly (readonly [family: GuardFamily, model: string, category: string])[] = [
  ['llama-guard', 'meta-llama/Llama-Guard-3-8B', 'hate'],
  ['qwen3guard', 'Qwen/Qwen3Guard-Gen-8B', 'qwen3guard/pii'],
  ['shieldgemma', 'google/shieldgemma-9b', 'shieldgemma/dangerous_content'],
  ['granite-guardian', 'ibm-granite/granite-guardian-3.3-8b', 'granite-guardian/violence'],
  ['moderations', 'omni-moderation-latest', 'openai/hate'],
];

interface Line {
  readonly status: string;
  readonly score: number;
  readonly flagged: boolean;
  readonly subcategory_flags: readonly string[] | null;
  readonly fingerprint: string;
  readonly endpoint: string;
  readonly error: { readonly code: string } | null;
}

async function corpus(items = 600): Promise<{ folder: string; paths: string[] }> {
  const folder = await temporaryFolder();
  const rows = Array.from({ length: items }, (_, row) => `comment number ${row}`);
  await writeFile(join(folder, 'a.csv'), `text\n${rows.join('\n')}\n`);
  await writeFile(join(folder, 'b.jsonl'), '{"prompt":"may I?","response":"you may"}\n');
  return { folder, paths: [join(folder, 'a.csv'), join(folder, 'b.jsonl')] };
}

async function linesOf(dir: string): Promise<Line[]> {
  const text = await readFile(join(dir, 'verdicts.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)!;

test.each(SERVED)(
  'a run with %s is accounted for, resumed after a kill, and verified',
  async (family, model, category) => {
    const { folder, paths } = await corpus();
    let server: OpenAiServer | null = null;
    let cli: Cli | null = null;
    // Killed in the middle: the rest is judged by `resume`.
    const script = ({ number }: { readonly number: number }): void => {
      if (number === (family === 'moderations' ? 10 : 300)) cli?.kill('SIGKILL');
    };
    server = await openAiServer({ family, model, script });
    const out = join(folder, 'runs');
    cli = new Cli(['enqueue', ...paths, '--out', out, '--guard', server.address]);
    expect((await cli.finished()).signal).toBe('SIGKILL');
    const [name] = await (
      await import('node:fs/promises')
    )
      .readdir(out)
      .then((all) => all.filter((one) => !one.startsWith('.')));
    const dir = join(out, name!);
    const { status, stdout } = await guardsweep(['resume', dir]);
    expect(stdout).toContain('Judged 601 of 601 items');
    expect(status).toBe(0);
    expect(lastLine(stdout)).toBe(dir);
    const lines = await linesOf(dir);
    expect(lines).toHaveLength(601);
    expect(lines.every((line) => line.status === 'ok' && line.endpoint === server.address)).toBe(true);
    expect(new Set(lines.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    expect(lines[0]!.fingerprint).toMatch(/^declared:[0-9a-f]{64}$/);
    expect(lines.some((line) => line.subcategory_flags?.includes(category))).toBe(true);
    const manifest = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8')) as {
      fingerprints: { artifacts: Record<string, string> }[];
    };
    expect(manifest.fingerprints[0]!.artifacts).toMatchObject({ family, model });
    expect((await guardsweep(['verify', dir])).status).toBe(0);
  },
);
