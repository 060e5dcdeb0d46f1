import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../../src/cli/program.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { output, runsWith, typed } from '../terminal.ts';

const never = new AbortController().signal;
const context = {
  ...{ cwd: '/', env: {}, stdout: output(), stderr: output() },
  interrupts: { drain: never, stop: never },
};
const FLAGS = buildProgram(
  context,
  async () => runsWith({}),
  () => undefined,
).commands.flatMap(({ options }) => options);

/** What npm gives to the script `enqueue`. */
const npm = (kept: NodeJS.ProcessEnv, command = 'run'): NodeJS.ProcessEnv => ({
  npm_command: command,
  npm_lifecycle_event: 'enqueue',
  ...Object.fromEntries(Object.entries(kept).map(([name, value]) => [`npm_config_${name}`, value])),
});

const said = async (argv: readonly string[], env: NodeJS.ProcessEnv): Promise<string> => {
  const { status, stderr, stdout } = await typed(argv, { context: { env } });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  return stderr;
};

describe('flags that npm kept', () => {
  const names = [...new Set(FLAGS.map(({ long }) => long!))].filter((flag) => flag !== '--quiet');

  it.each(names)('%s is refused', async (flag) => {
    const name = flag === '--head' ? 'heading' : flag.replace(/^--(no-)?/, '').replaceAll('-', '_');
    const isNegated = flag.startsWith('--no-');
    const value = isNegated ? '' : FLAGS.find(({ long }) => long === flag)!.required ? 'some value' : 'true';
    const typedFlag = value === 'some value' ? `${flag} 'some value'` : flag;
    for (const command of ['run', 'run-script']) {
      expect(await said(['enqueue', './x'], npm({ [name]: value }, command))).toBe(
        `guardsweep: npm took ${flag} for itself, because -- is missing in front of the arguments; type: npm run enqueue -- ./x ${typedFlag}\n`,
      );
    }
  });

  it.each<[readonly string[], NodeJS.ProcessEnv, string]>([
    [['./x', 'p'], { policy: 'true' }, 'npm run enqueue -- ./x --policy p'],
    [['./x', 'p', 'o'], { policy: 'true', out: 'true' }, 'npm run enqueue -- first, then the rest as before'],
    [['./x'], { guard: 'a\n\nb' }, 'npm run enqueue -- ./x --guard a --guard b'],
    [['./x', 'csv,parquet'], {}, 'npm run enqueue -- ./x --format csv,parquet'],
    [[], { json: 'true' }, 'npm run enqueue -- --json'],
    [
      Array.from({ length: 20 }, (_, at) => `it's ${at}`).slice(0, 13),
      { json: 'true' },
      `npm run enqueue -- ${Array.from({ length: 12 }, (_, at) => `'it'\\''s ${at}'`).join(' ')} … --json`,
    ],
  ])('of %j with %j are put into the command line to type', async (words, kept, expected) => {
    expect(await said(['enqueue', ...words], npm(kept))).toContain(`; type: ${expected}\n`);
  });

  it.each([
    [['./nothing-here', '--format', 'csv,parquet']],
    [['--format', 'jsonl', './nothing-here']],
    [['./nothing-here', '--layout', 'csv']],
  ])('are not suspected in %j, where npm passed them on', async (words) => {
    expect(await said(['enqueue', ...words], npm({}))).not.toContain('npm took');
  });

  it('are not those that were set for npm, in a file or in the environment', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, '.npmrc'), 'json\n; policy=p\n[x]\nout = "o"\nallow-errors=false\n');
    const env = { ...npm({ json: 'true', out: 'o', allow_errors: '', policy: 'p' }), NPM_CONFIG_POLICY: 'p' };
    const elsewhere = { ...env, npm_config_local_prefix: folder };
    expect(await said(['enqueue', './nothing'], elsewhere)).toContain('no such file');
    expect(await said(['enqueue', './nothing'], { ...elsewhere, npm_config_out: 'other' })).toContain(
      'npm took --out',
    );
  });

  it('are not looked for outside the script of the command', async () => {
    for (const env of [
      { ...npm({ policy: 'p' }), npm_lifecycle_event: 'nightly' },
      { ...npm({ policy: 'p' }), npm_command: 'exec' },
    ]) {
      expect(await said(['enqueue', './nothing'], env)).toContain('no such file');
    }
  });
});
