/** Escapes a text so that it matches literally in a pattern of KEYS or SCAN. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[*?[\]\\]/g, '\\$&');
}
