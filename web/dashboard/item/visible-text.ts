/** Control characters except tab and line feed, direction marks and controls, and line and paragraph separators. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Writes out characters that could hide or reorder text, such as `[U+202E]`. Letters of other scripts keep their own
 * direction.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(
      HIDDEN,
      (hidden) => `[U+${hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}

/** Replaces letters and digits, so only the shape of the text is left. */
export function maskText(text: string): string {
  return text.replaceAll(/[\p{L}\p{N}\p{M}\p{Emoji_Presentation}]/gu, '•');
}
