import { describe, expect, it } from 'vitest';
import { toolVersion } from '../../src/config/tool-version.ts';
import { typed } from './terminal.ts';

const COMMANDS = [
  ...['enqueue', 'resume', 'retry', 'verify', 'export', 'report', 'replay', 'diff', 'status', 'pause'],
  ...'continue cancel runs gc worker sink scheduler schedule preflight normalize guard serve'.split(' '),
  ...['fingerprint', 'doctor', 'help'],
];

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
