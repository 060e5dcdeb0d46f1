import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { flagHelp, flagSyntax } from '../../src/config/settings/describe.ts';
import { ENVIRONMENT } from '../../src/config/settings/entries/environment.ts';
import { allSettings } from '../config/settings/all-settings.ts';
import { output, runsWith, typed } from './terminal.ts';

const never = new AbortController().signal;

function optionsOfCommands(): { command: string; option: string; attribute: string }[] {
  const context = { cwd: '/', env: {}, stdout: output(), stderr: output() };
  const interrupts = { drain: never, stop: never };
  const program = buildProgram({ ...context, interrupts }, runsWith({}), () => {});
  return program.commands.flatMap((command) =>
    command.options.map((option) => ({
      command: command.name(),
      option: `${option.flags}: ${option.description}`,
      attribute: option.attributeName(),
    })),
  );
}

const shown = (setting: Parameters<typeof flagHelp>[0]): string =>
  `${flagSyntax(setting)}: ${flagHelp(setting)}`;

describe('the flags of all commands', () => {
  it('are settings', async () => {
    const known = new Set([...(await allSettings()).values()].map(shown));
    expect(optionsOfCommands().filter(({ option }) => !known.has(option))).toEqual([]);
  });

  it('are all flags that settings have', async () => {
    const options = new Set(optionsOfCommands().map(({ option }) => option));
    const missing = [...(await allSettings())]
      .filter(([, setting]) => setting.flag !== null && !options.has(shown(setting)))
      .map(([name]) => name);
    expect(missing).toEqual([]);
  });
});

describe('environment variables', () => {
  it('are all in the help', async () => {
    const { stdout } = await typed(['--help']);
    for (const { name, help } of ENVIRONMENT) {
      expect(stdout).toContain(`\n  ${name} `);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(help);
    }
  });

  it('that the source names are settings, or what --on-finish hands over', async () => {
    const src = resolve(import.meta.dirname, '../../src');
    const handedOver = /^GUARDSWEEP_(RUN|RUN_DIR|PASS|HEAD|STATUS|SUMMARY)$/;
    const known = new Set(ENVIRONMENT.map(({ name }) => name.replace(/__<HOST>$/, '')));
    const named = new Set<string>();
    for (const entry of await readdir(src, { recursive: true })) {
      if (!entry.endsWith('.ts')) continue;
      const text = await readFile(resolve(src, entry), 'utf8');
      for (const [name] of text.matchAll(/\bGUARDSWEEP_[A-Z_]*[A-Z]\b|(?<=env\[')[A-Z]+_[A-Z_]+/g))
        named.add(name);
    }
    expect([...named].filter((name) => !known.has(name) && !handedOver.test(name))).toEqual([]);
  });
});
