import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { absentText, flagHelp, flagSyntax } from '../../src/config/settings/describe.ts';
import { ENVIRONMENT } from '../../src/config/settings/entries/environment.ts';
import type { Setting } from '../../src/config/settings/setting.ts';
import { expectFile, markdownList, projectFile, withList } from '../config/settings/markdown-list.ts';
import { testProgram } from './terminal.ts';

const ENTRIES = resolve(import.meta.dirname, '../../src/config/settings/entries');

/** Every setting that an entry defines, by the name of its constant. */
async function allSettings(): Promise<ReadonlyMap<string, Setting>> {
  const settings = new Map<string, Setting>();
  for (const file of await readdir(ENTRIES)) {
    const exported = (await import(resolve(ENTRIES, file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value === 'object' && value !== null && 'kind' in value)
        settings.set(name, value as Setting);
    }
  }
  return settings;
}

const optionsOfCommands = () => optionsBelow(testProgram(), '');

function optionsBelow({ commands }: Command, above: string): { command: string; option: string }[] {
  return commands.flatMap((command) => {
    const name = `${above}${command.name()}`;
    const options = command.options.map(({ flags, description }) => `${flags}: ${description}`);
    const own = options.map((option) => ({ command: name, option }));
    return [...own, ...optionsBelow(command, `${name} `)];
  });
}

const shown = (setting: Setting): string => `${flagSyntax(setting)}: ${flagHelp(setting)}`;

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

// `npx vitest run test/cli/settings.test.ts -u` writes the lists again.
it('the documentation has the lists of flags and environment variables', async () => {
  const page = 'docs/settings.md';
  const flags = markdownList(await flagItems());
  const described = ENVIRONMENT.map(({ name, help }) => ({ name: `\`${name}\``, text: `${help}.` }));
  const variables = markdownList(described);
  await expectFile(page, withList(withList(await projectFile(page), 'flags', flags), 'variables', variables));
});

async function flagItems(): Promise<{ name: string; text: string }[]> {
  const options = optionsOfCommands();
  const commandsOf = (setting: Setting): string[] =>
    options.filter(({ option }) => option === shown(setting)).map(({ command }) => command);
  const settings = [...(await allSettings()).values()].filter(
    ({ flag, key }) => flag !== null && key === null,
  );
  return settings.map((setting) => ({
    name: `\`${flagSyntax(setting)}\` (${commandsOf(setting).join(', ')})`,
    text: `${setting.help}. Default: ${absentText(setting)}.`,
  }));
}
