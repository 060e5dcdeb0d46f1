import { escapeLine } from './escape-text.ts';

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
