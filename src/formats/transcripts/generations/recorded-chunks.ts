import { isList } from '../../record.ts';

/**
 * The chunks of a response as it was generated, from a list of texts; null for any other value. Empty chunks, and null,
 * are left out: a stream must not send them. A chunk that ends within a surrogate pair leaves the half of it to the next.
 */
export function recordedChunks(value: unknown): string[] | null {
  if (!isList(value) || !value.every(isChunk)) return null;
  const chunks: string[] = [];
  let half = '';
  for (const recorded of value) {
    const text = half + (recorded ?? '');
    const whole = endsWithHalf(text) ? text.slice(0, -1) : text;
    half = text.slice(whole.length);
    if (whole !== '') chunks.push(whole);
  }
  if (half !== '') chunks.push(half);
  return chunks;
}

function isChunk(value: unknown): value is string | null {
  return typeof value === 'string' || value === null;
}

function endsWithHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
