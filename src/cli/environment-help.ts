import { ENVIRONMENT } from '../config/settings/entries/environment.ts';

const INDENT = 2;
const GAP = 2;
const MIN_HELP_COLUMNS = 40;

/** The environment variables and their meaning in two columns, as wide as the terminal. */
export function environmentHelp(columns: number): string {
  const nameWidth = Math.max(...ENVIRONMENT.map(({ name }) => name.length));
  const left = INDENT + nameWidth + GAP;
  const lines = ENVIRONMENT.flatMap(({ name, help }) => {
    const [first, ...more] = wrapped(help, Math.max(MIN_HELP_COLUMNS, columns - left));
    return [
      `${' '.repeat(INDENT)}${name.padEnd(nameWidth + GAP)}${first}`,
      ...more.map((line) => `${' '.repeat(left)}${line}`),
    ];
  });
  return `\nEnvironment:\n${lines.join('\n')}\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
