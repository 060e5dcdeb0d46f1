import { escapeLine } from './escape-text.ts';

/** A command to type, in the form that started this process: an npm script of this package, npx, or the binary. */
export function formatCliCommand(name: string, words: readonly string[], env: NodeJS.ProcessEnv): string {
  if (env['npm_lifecycle_event'] === undefined) return ['guardsweep', name, ...words].join(' ');
  // Scripts of other packages, and npx, start the installed program; only ours has a script for each command.
  if (env['npm_lifecycle_event'] === 'npx' || env['npm_package_name'] !== 'guardsweep') {
    return ['npx guardsweep', name, ...words].join(' ');
  }
  return ['npm run', name, ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
}

/**
 * Quotes a word for a shell. A word with unprintable characters becomes octal escapes in `$'…'` (POSIX.1-2024; long
 * supported by bash, zsh and ksh).
 */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (escapeLine(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  const bytes = [...Buffer.from(word)].map((byte) =>
    /[\w@%+=:,./ -]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `$'${bytes.join('')}'`;
}
