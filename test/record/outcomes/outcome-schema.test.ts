import { describe, expect, it } from 'vitest';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { parseOutcomeLine } from '../../../src/record/outcomes/outcome-schema.ts';
import { errorLine, outcomeLine } from '../outcome-line.ts';

describe('an error line', () => {
  const failed = (error: object): OutcomeLine => errorLine(error as OutcomeLine['error']);

  it.each([
    { code: 'INTERNAL', message: '', retryable: true, reason: 'ffmpeg_missing' },
    { code: 'UNSUPPORTED_TYPE', message: '', retryable: false, reason: 'no_text_column' },
    { code: 'INTERNAL', message: '', retryable: true },
  ])('may have a reason that belongs to its code: %j', (error) => {
    const line = failed(error);
    expect(parseOutcomeLine(JSON.stringify(line))).toEqual(line);
  });

  it.each([
    { code: 'TIMEOUT', message: '', retryable: true, reason: 'ffmpeg_missing' },
    { code: 'INTERNAL', message: '', retryable: true, reason: 'none of ours' },
    { code: 'INTERNAL', message: '', retryable: true, reason: null },
    { code: 'INTERNAL', message: '', retryable: false },
  ])('has no other: %j', (error) => {
    expect(() => parseOutcomeLine(JSON.stringify(failed(error)))).toThrow();
  });
});

it('an outcome line has a fingerprint, or a declaration, in no other form', () => {
  for (const kind of ['sha256', 'declared']) {
    const line = outcomeLine({ fingerprint: `${kind}:${'0a'.repeat(32)}` });
    expect(parseOutcomeLine(JSON.stringify(line))).toEqual(line);
  }
  expect(() => parseOutcomeLine(JSON.stringify(outcomeLine({ fingerprint: '=1+1' })))).toThrow();
});
