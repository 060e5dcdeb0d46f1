/** A text for a pattern of KEYS or SCAN, in which it stands for itself alone. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[*?[\]\\]/g, '\\$&');
}
