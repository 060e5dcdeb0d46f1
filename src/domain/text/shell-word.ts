import { escaped } from './shown.ts';

/**
 * A word as a shell needs it. One that could not be printed as it is has its bytes as octal escapes in `$'…'`, which
 * POSIX has since 2024 and bash, zsh and ksh have had for long.
 */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (escaped(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`;
  const bytes = [...Buffer.from(word)].map((byte) =>
    /[\w@%+=:,./ -]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `$'${bytes.join('')}'`;
}
