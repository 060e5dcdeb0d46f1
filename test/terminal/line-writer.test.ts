import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineWriter } from '../../src/terminal/line-writer.ts';

function written(write: (writer: LineWriter) => void, columns?: number): string {
  let text = '';
  const target = { write: (more: string) => (text += more), ...(columns === undefined ? {} : { columns }) };
  write(new LineWriter(target));
  return text;
}

const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const text = fc.string({ unit: 'binary' });
const withHalves = fc
  .array(fc.integer({ min: 0, max: 0xffff }))
  .map((units) => String.fromCharCode(...units));

test('a line is one line, without a character that a terminal acts on', () => {
  fc.assert(
    fc.property(fc.oneof(text, withHalves), (foreign) => {
      const line = written((writer) => writer.line(`ours: ${foreign}`));
      expect(line).toMatch(/^ours: [^\n]*\n$/);
      expect(ACTING.test(line.slice(0, -1))).toBe(false);
    }),
  );
  expect(written((writer) => writer.line('a\n\u001b[31m\u009b\u202eb\u2028\u{e0041}é漢👍'))).toBe(
    'a\\x0a\\x1b[31m\\x9b\\u{202e}b\\u{2028}\\u{e0041}é漢👍\n',
  );
});

test.each(['json', 'text'] as const)('a line of a %s log is one line, whatever its message', (format) => {
  fc.assert(
    fc.property(fc.oneof(text, withHalves), (foreign) => {
      const line = written((writer) => {
        writer.logAs(format);
        writer.say(foreign, { level: 'warn', event: 'waiting', run: foreign });
      });
      expect(ACTING.test(line.slice(0, -1))).toBe(false);
      if (format === 'text') {
        expect(line).toMatch(/^\S+Z warn [^\n]*\n$/);
        return;
      }
      const { message, ...fields } = JSON.parse(line) as { message: string };
      expect(fields).toMatchObject({ level: 'warn', event: 'waiting', run: foreign });
      expect(ACTING.test(message)).toBe(false);
    }),
  );
});

test('JSON keeps its value and prints plainly', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(undefined, 2), (value, indent) => {
      const json = written((writer) => writer.json(value, indent));
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(ACTING.test(json.replaceAll('\n', ''))).toBe(false);
      if (indent === undefined) expect(json.indexOf('\n')).toBe(json.length - 1);
    }),
  );
  expect(written((writer) => writer.json(['\u009b\u2028\u{e0041}']))).toBe(
    '["\\u009b\\u2028\\udb40\\udc41"]\n',
  );
});

test('a line has a bound', () => {
  expect(written((writer) => writer.line('x'.repeat(1_000_000))).length).toBeLessThan(20_000);
});
