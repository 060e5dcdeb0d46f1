import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { output, runsWith, typed } from './terminal.ts';

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
  // A machine's .npmrc may hold settings of npm's own, under the same names.
  const OWN = ['--audit', '--json', '--name', '--quiet'];
  const names = [...new Set(FLAGS.map(({ long }) => long!))].filter((flag) => !OWN.includes(flag));

  it('are refused, each of them', async () => {
    expect(names.length).toBeGreaterThan(30);
    for (const flag of names) {
      const name = flag === '--head' ? 'heading' : flag.replace(/^--(no-)?/, '').replaceAll('-', '_');
      const value = flag.startsWith('--no-') ? '' : 'true';
      expect(await said(['enqueue', './x'], npm({ [name]: value }, 'run-script'))).toBe(
        `guardsweep: npm took ${flag} for itself: put -- in front of the arguments, as in: npm run enqueue -- ${flag} …\n`,
      );
    }
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
