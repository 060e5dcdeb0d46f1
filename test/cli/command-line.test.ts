import { describe, expect, it } from 'vitest';
import type { RunUi } from '../../src/cli/context.ts';
import { Failure, type FailureKind } from '../../src/domain/failure.ts';
import { toolVersion } from '../../src/config/tool-version.ts';
import { testProgram, typed } from './terminal.ts';

it.each([
  ['', 'no command given; guardsweep help lists them'],
  ['enqeue x', "unknown command 'enqeue'; did you mean enqueue?"],
  ['enqueue . --polcy x', "unknown option '--polcy'; did you mean --policy?"],
  ['enqueue . --max-wait soon', '--max-wait: expected a duration such as 30s, 10m or 2h, found "soon"'],
  ['enqueue none', 'argument: no such file or folder: "none"'],
  [
    'resume a b',
    "too many arguments for 'resume'. Expected 1 argument but got 2; see: guardsweep help resume",
  ],
  ['guard --host 0.0.0.0', '--host 0.0.0.0 can be reached from outside: set GUARD_TOKEN to listen there'],
  ['fingerprint --guard ftp://x', /^--guard: expected grpc:/],
  ['enqueue . --rehash', '--rehash was removed: reuse: false (--no-reuse) reads every file'],
])('a command line that is wrong ends with 2 and one line: %j', async (words, line) => {
  const { status, stdout, stderr } = await typed(words === '' ? [] : words.split(' '));
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^guardsweep: [^\n]+\n$/);
  const said = stderr.slice('guardsweep: '.length, -1);
  expect(said).toEqual(typeof line === 'string' ? line : expect.stringMatching(line));
});

describe('the exit status of a command', () => {
  it.each([0, 1, 3, 5])('is what the run ended with: %i', async (ended) => {
    const { status } = await typed(['resume', 'x'], { runs: { resume: async () => ended } });
    expect(status).toBe(ended);
  });

  it.each([
    ['internal', 1],
    ['superseded', 1],
    ['usage', 2],
    ['service', 4],
    ['interrupted', 130],
  ] as [FailureKind, number][])('after the failure %s is %i, said in one line', async (kind, expected) => {
    const retry = () => Promise.reject(new Failure(kind, 'first\nsecond \u001b[31mred'));
    const { status, stderr } = await typed(['retry', 'x'], { runs: { retry } });
    expect([status, stderr]).toEqual([expected, 'guardsweep: first\\x0asecond \\x1b[31mred\n']);
  });

  it('after an unexpected error is 1, and nothing of its message is shown', async () => {
    const cause = new SyntaxError('CONTENT at position 3');
    const verify = () => Promise.reject(new TypeError('quotes CONTENT\n    at CONTENT', { cause }));
    const line = 'guardsweep: unexpected error (TypeError); GUARDSWEEP_DEBUG=1 shows where it happened\n';
    const quiet = await typed(['verify', 'x'], { runs: { verify } });
    expect(quiet).toEqual({ status: 1, stdout: '', stderr: line });

    const context = { env: { GUARDSWEEP_DEBUG: '1' } };
    const debug = await typed(['verify', 'x'], { runs: { verify }, context });
    expect(debug.stderr).toContain('caused by SyntaxError');
    expect(debug.stderr).toMatch(/ {4}at .*command-line\.test/);
    expect(debug.stderr).not.toContain('CONTENT');
  });

  it('is 130 when an interrupt ended an await', async () => {
    const interrupted = AbortSignal.abort();
    const resume = async (_: string, ui: RunUi): Promise<never> => {
      ui.interrupts.drain.throwIfAborted();
      throw new Error('not aborted');
    };
    const interrupts = { drain: interrupted, stop: interrupted };
    const { status } = await typed(['resume', 'x'], { runs: { resume }, context: { interrupts } });
    expect(status).toBe(130);
  });
});

const COMMANDS = [
  ...'enqueue resume retry verify export report replay diff status pause continue cancel runs gc'.split(' '),
  ...'worker sink scheduler schedule preflight normalize guard serve fingerprint doctor help'.split(' '),
];

describe('help', () => {
  it('lists the commands, the exit statuses and examples', async () => {
    const { status, stdout, stderr } = await typed(['--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const listed = [...stdout.matchAll(/^ {2}([a-z]+)(?: \[options\])?/gm)];
    expect(listed.map(([, name]) => name)).toEqual(COMMANDS);
    expect(stdout).toContain('Exit status:');
    expect(stdout).toContain('Examples:');
  });

  it.each(COMMANDS)('of %s has an example', async (command) => {
    const { status, stdout } = await typed([command, '--help', 'all']);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`\nExamples:\n  # .*\n  \\$ guardsweep ${command}`));
  });

  it.each(['--version', '-V'])('%s shows the version', async (flag) => {
    expect(await typed([flag])).toEqual({ status: 0, stdout: `${toolVersion()}\n`, stderr: '' });
  });

  it('is also a command', async () => {
    expect(await typed(['help'])).toEqual(await typed(['--help']));
    expect(await typed(['help', 'verify'])).toEqual(await typed(['verify', '--help']));
    expect(await typed(['help', 'enqueue', 'all'])).toEqual(await typed(['enqueue', '--help', 'all']));
  });
});

const FLAGS = testProgram().commands.flatMap(({ options }) => options);

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
    const kept = npm({ policy: 'p' });
    for (const other of [{ npm_lifecycle_event: 'nightly' }, { npm_command: 'exec' }]) {
      expect(await said(['enqueue', './nothing'], { ...kept, ...other })).toContain('no such file');
    }
  });
});
