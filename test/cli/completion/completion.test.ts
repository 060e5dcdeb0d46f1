import { execFile, execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/cli.ts';
import { typed } from '../terminal.ts';

const script = async (shell: string): Promise<string> => {
  const { status, stdout, stderr } = await typed(['completion', shell]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
};

/** Words of a command line as bash splits them, the last one being typed; then what is offered. */
const CASES: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [['enq'], ['enqueue']],
  [['--v'], ['--version']],
  [['enqueue', '--pol'], ['--policy']],
  [
    ['enqueue', './x', '--audit', ''],
    ['final', 'every-turn'],
  ],
  [['enqueue', '--audit', '=', 'ev'], ['every-turn']],
  [
    ['enqueue', '--audit', '='],
    ['final', 'every-turn'],
  ],
  [['enqueue', '--name', ''], []],
  [
    ['enqueue', 'my'],
    ['my folder', 'my $(touch pwned) file.csv'],
  ],
  [
    ['enqueue', '--policy', 'my'],
    ['my folder', 'my $(touch pwned) file.csv'],
  ],
  [['enqueue', '--out', 'm'], ['my folder']],
  [['resume', 'm'], ['my folder']],
  [['help', 'diff'], ['diff']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['fingerprint', 'm'], []],
  [['unknown', 'm'], []],
];

describe('completion', () => {
  it('offers in bash what fits the place', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'my folder'));
    await writeFile(join(folder, 'my $(touch pwned) file.csv'), '');
    await writeFile(join(folder, 'guardsweep.bash'), await script('bash'));
    const quoted = (word: string): string => `'${word}'`;
    // Outside of a completion, compopt fails.
    const lines = CASES.map(
      ([words]) =>
        `COMP_WORDS=(guardsweep ${words.map(quoted).join(' ')}) COMP_CWORD=${words.length}; _guardsweep 2> /dev/null; printf '%s\\n' "\${COMPREPLY[@]}" END`,
    );
    const bash = [
      '-c',
      `set -u; source ./guardsweep.bash; complete -p guardsweep; ${lines.join('; ')}; ls pwned`,
    ];
    const { stdout, code } = await new Promise<{ stdout: string; code: number }>((resolve) => {
      const child = execFile('bash', bash, { cwd: folder }, (_, text) =>
        resolve({ stdout: text, code: child.exitCode! }),
      );
    });
    const [registered, ...replies] = stdout.split(/\n/);
    expect(registered).toBe('complete -F _guardsweep guardsweep');
    const offered = replies.join('\n').split('END\n').slice(0, -1);
    expect(
      offered.map((text) =>
        text
          .split('\n')
          .filter((line) => line !== '')
          .sort(),
      ),
    ).toEqual(CASES.map(([, expected]) => [...expected].sort()));
    expect(code).not.toBe(0);
  });

  it.each([
    ['bash', ['-n']],
    ['zsh', ['-n']],
    ['fish', ['--no-execute']],
  ])('is a script that %s can read', async (shell, check) => {
    const path = join(await temporaryFolder(), 'script');
    await writeFile(path, await script(shell));
    if (!isInstalled(shell)) return;
    const { stderr } = await promisify(execFile)(shell, [...check, path]);
    expect(stderr).toBe('');
  });

  it('offers in zsh and fish every command and every flag', async () => {
    const bash = await script('bash');
    const flags = [...new Set(bash.match(/--[a-z-]+/g))].filter((flag) => flag !== '--version');
    const [zsh, fish] = [await script('zsh'), await script('fish')];
    expect(flags.length).toBeGreaterThan(60);
    for (const flag of flags) {
      expect(zsh).toMatch(new RegExp(`'\\*?${flag}[=[]`));
      expect(fish).toContain(` -l ${flag.slice(2)} `);
    }
  });

  it('is for known shells only', async () => {
    const { status, stderr } = await typed(['completion', 'csh']);
    expect(status).toBe(2);
    expect(stderr).toContain('known: bash, zsh, fish');
  });
});

function isInstalled(shell: string): boolean {
  try {
    execFileSync(shell, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
