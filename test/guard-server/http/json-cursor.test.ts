import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { JsonCursor, MalformedJson } from '../../../src/guard-server/http/json-cursor.ts';

/** Builds what JSON.parse would. */
function parsed(text: Buffer, maxValues = 1_000_000): unknown {
  const reader = new JsonCursor(text, maxValues);
  const value = valueOf(reader);
  reader.end();
  return value;
}

function valueOf(reader: JsonCursor): unknown {
  switch (reader.type()) {
    case 'object': {
      const members: [string, unknown][] = [];
      reader.members((name) => void members.push([name, valueOf(reader)]));
      return Object.fromEntries(members);
    }
    case 'array': {
      const elements: unknown[] = [];
      reader.elements(() => void elements.push(valueOf(reader)));
      return elements;
    }
    case 'string':
      return reader.bytes().toString();
    case 'number':
      return reader.number();
    case 'boolean':
      return reader.boolean();
    case 'null':
      reader.skip();
      return null;
  }
}

const spaced = fc.constantFrom(undefined, ' ', '\t', 2);

it('reads what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 2 }), spaced, (value, space) => {
      const text = JSON.stringify(value, null, space);
      expect(parsed(Buffer.from(text))).toEqual(JSON.parse(text));
    }),
    { numRuns: 40 },
  );
});

it('reads strings in which any character is escaped', () => {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (plain, hidden) => {
      const text = `${JSON.stringify(plain).slice(0, -1)}${hidden.split('').map(escaped).join('')}"`;
      expect(parsed(Buffer.from(text))).toBe(plain + hidden);
    }),
  );
});

/** Texts near JSON: some are, some are not. */
const nearJson = fc
  .tuple(
    fc.jsonValue({ maxDepth: 3 }),
    fc.array(
      fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'{}[]",:\\0123456789.eE+-tfn ulsrae\u0000\n')),
      {
        maxLength: 3,
      },
    ),
  )
  .map(([value, edits]) => {
    let text = JSON.stringify(value);
    for (const [position, dropped, inserted] of edits) {
      const at = position % (text.length + 1);
      text = text.slice(0, at) + inserted + text.slice(at + dropped);
    }
    return text;
  });

it('accepts and refuses what JSON.parse does', () => {
  fc.assert(
    fc.property(nearJson, (text) => {
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        expect(() => parsed(Buffer.from(text))).toThrow(MalformedJson);
        return;
      }
      try {
        expect(parsed(Buffer.from(text))).toEqual(expected);
      } catch (error) {
        // Stricter on purpose.
        if (!/repeated member|unpaired surrogate/.test((error as Error).message)) throw error;
      }
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['', 'expected an object'],
  ['{', 'expected a string'],
  ['{"a":1,}', 'expected a string'],
  ['{"a" 1}', 'syntax error'],
  ['{"a":1 "b":2}', 'syntax error'],
  ['{"a":1,"a":2}', 'repeated member'],
  ['{"a":1,"\\u0061":2}', 'repeated member'],
  ['{} {}', 'unexpected text after the value'],
  ['\ufeff{}', 'expected an object'],
  ['{"a":01}', 'syntax error'],
  [`{"a":${'1'.repeat(65)}}`, 'expected a number'],
  ['{"a":nul}', 'expected a value'],
  ['{"a":"\n"}', 'invalid string'],
  ['{"a":"\\x"}', 'invalid escape'],
  ['{"a":"\\u00g0"}', 'invalid escape'],
  ['{"a":"\\ud800"}', 'unpaired surrogate'],
  ['{"a":"\\ud800\\u12"}', 'invalid escape'],
  ['{"a":"\\ud800\\u0061"}', 'unpaired surrogate'],
  ['{"a":"\\udc00\\ud800"}', 'unpaired surrogate'],
])('says what is wrong with %j, and where', (text, error) => {
  const reader = new JsonCursor(Buffer.from(text), 100);
  expect(() => {
    reader.members(() => reader.skip());
    reader.end();
  }).toThrow(new RegExp(`^${error} at byte \\d+$`));
});

describe('limits', () => {
  it('hold for nesting', () => {
    const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    expect(() => parsed(nested(32))).not.toThrow();
    expect(() => parsed(nested(33))).toThrow('nested too deeply');
    expect(() => new JsonCursor(nested(1_000_000), 1).skip()).toThrow(MalformedJson);
  });

  it('hold for the number of values', () => {
    expect(parsed(Buffer.from('[1,{"a":2}]'), 3)).toEqual([1, { a: 2 }]);
    expect(() => parsed(Buffer.from('[1,{"a":2}]'), 2)).toThrow('too many values');
  });

  it('hold for names and ids, not for data', () => {
    const long = Buffer.from(`"${'a'.repeat(1024 * 1024 + 1)}"`);
    expect(() => new JsonCursor(long, 1).text()).toThrow('name or id too long');
    expect(new JsonCursor(long, 1).bytes()).toHaveLength(long.length - 2);
  });
});

it('gives strings without escapes as views into the text', () => {
  const text = Buffer.from('["plain","\\n"]');
  const strings: Buffer[] = [];
  const reader = new JsonCursor(text, 10);
  reader.elements(() => void strings.push(reader.bytes()));
  text.fill('x');
  expect(strings.map(String)).toEqual(['xxxxx', '\n']);
});
