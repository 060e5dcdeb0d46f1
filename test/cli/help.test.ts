import { describe, expect, it } from 'vitest';
import { toolVersion } from '../../src/config/tool-version.ts';
import { typed } from './terminal.ts';

const COMMANDS = [
  ...['enqueue', 'resume', 'retry', 'verify', 'export', 'report', 'replay', 'diff', 'status', 'pause'],
  ...'continue cancel runs gc worker sink scheduler schedule preflight normalize guard serve'.split(' '),
  ...['fingerprint', 'doctor', 'help'],
];

/** The entries below `Options:`, each with its wrapped lines joined. */
function optionsOf(help: string): string[] {
  const section = /\nOptions:\n(.*?)\n\n/s.exec(`${help}\n\n`)?.[1] ?? '';
  return section.split(/\n {2}(?=-)/).map((entry) => entry.replaceAll(/\s+/g, ' ').trim());
}

describe('help', () => {
  it('lists the commands, the exit statuses and examples', async () => {
    const { status, stdout, stderr } = await typed(['--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect([...stdout.matchAll(/^ {2}([a-z]+)(?: \[options\])?/gm)].map(([, name]) => name)).toEqual(
      COMMANDS,
    );
    expect(stdout).toContain('Exit status:');
    expect(stdout).toContain('Examples:');
  });

  it.each(COMMANDS)('of %s gives a default for every flag, an example for every value', async (command) => {
    const { status, stdout } = await typed([command, '--help', 'all']);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`\nExamples:\n  # .*\n  \\$ guardsweep ${command}`));
    for (const option of optionsOf(stdout)) {
      if (option.startsWith('-h')) continue;
      expect(option).toMatch(/default: /);
      if (/^--[a-z-]+ </.test(option)) expect(option).toMatch(/example: |choices: /);
    }
  });

  it.each(['--version', '-V'])('%s shows the version', async (flag) => {
    expect(await typed([flag])).toEqual({ status: 0, stdout: `${toolVersion()}\n`, stderr: '' });
  });

  it('is also a command', async () => {
    expect(await typed(['help'])).toEqual(await typed(['--help']));
    expect(await typed(['help', 'verify'])).toEqual(await typed(['verify', '--help']));
    expect(await typed(['help', 'enqueue', 'all'])).toEqual(await typed(['enqueue', '--help', 'all']));
  });

  it('of enqueue fits one screen, with the ten flags that people use, and says how to see all', async () => {
    const { stdout } = await typed(['enqueue', '--help']);
    expect(optionsOf(stdout)).toHaveLength(11);
    expect(stdout).toContain('-h, --help [all]');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(24);
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(await typed(['help', 'enqueue'])).toEqual(await typed(['enqueue', '--help']));
    expect(optionsOf((await typed(['enqueue', 'all', '--help'])).stdout)).toHaveLength(11);
  });
});
