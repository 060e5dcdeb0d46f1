import { expect, test } from 'vitest';
import { TextBuffer } from '../../src/files/text-buffer.ts';

const PIECES = ['', 'a', 'plain ASCII', 'ä', '中文', '😀', '\ud800', Buffer.from('bytes'), 'x'.repeat(5000)];

test('gives the bytes of all that was added, whatever its expected size, and begins anew when cleared', () => {
  for (const expected of [0, 1, 10, 100_000]) {
    const buffer = new TextBuffer(expected);
    for (const round of [1, 2]) {
      const parts = [...PIECES, ...PIECES.slice(round)];
      for (const part of parts) buffer.add(part);
      const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
      expect(buffer.take().equals(bytes)).toBe(true);
      expect(buffer.length).toBe(bytes.length);
      buffer.clear();
      expect(buffer.length).toBe(0);
    }
  }
});
