import type { z } from 'zod';
import type { Setting } from './setting.ts';

/** Formats the syntax of a flag, such as `--max-wait <duration>`. */
export function flagSyntax({ flag, kind }: Setting): string {
  return kind.unit === null ? String(flag) : `${flag} <${kind.unit}>`;
}

/** The default of a setting, with literal words in backticks. */
export function absentText({ absent, variable }: Setting): string {
  if (absent.is === 'required') {
    return variable === null ? 'required' : `\`${variable.name}\`; required`;
  }
  const shown = absent.is === 'unset' ? absent.shown : (absent.shown ?? `\`${absent.value}\``);
  return variable === null ? shown : `\`${variable.name}\`, else ${shown}`;
}

/** The help of a flag: its purpose, its default, and an example value. */
export function flagHelp(setting: Setting): string {
  const { flagNote, kind, example } = setting;
  const parts = [
    setting.flagHelp ?? setting.help,
    ...(flagNote === null ? [] : [flagNote]),
    ...(kind.isList ? ['repeatable'] : []),
  ];
  const exampleText = example === null ? '' : `; example: ${example}`;
  return plain(`${parts.join('; ')} (default: ${absentText(setting)}${exampleText})`);
}

/** The description of a key in the schema of job files, in full sentences. */
export function keyDescription(setting: Setting): string {
  const { help, keyNote, absent } = setting;
  const sentences = [help, ...(keyNote === null ? [] : [keyNote])];
  if (absent.is !== 'required') sentences.push(`default: ${keyAbsentText(setting)}`);
  return sentences.map((text) => `${asSentence(plain(text))}.`).join(' ');
}

/** The shape of a key in a job file, with its description. */
export function keyShape(setting: Setting): z.ZodType {
  const { shape } = setting.kind;
  return (setting.absent.is === 'required' ? shape : shape.optional()).meta({
    description: keyDescription(setting),
  });
}

/** The default of a key in a job file, where switches are `true` or `false`. */
export function keyAbsentText(setting: Setting): string {
  const isSwitch = setting.kind.unit === null && setting.absent.is === 'default';
  return isSwitch ? `\`${setting.absent.value}\`: ${absentText(setting)}` : absentText(setting);
}

function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function plain(text: string): string {
  return text.replaceAll('`', '');
}
