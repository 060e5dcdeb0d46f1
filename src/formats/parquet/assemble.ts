import { isUtf8 } from 'node:buffer';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { beginsWith, type Magic } from '../../domain/magic-bytes.ts';
import { elementOf, type Leaf, type SchemaNode } from './schema.ts';

/**
 * A value while its row is read: of a group, the values of its children; of a repeated node, its elements. Undefined and
 * null: there is none.
 */
type Raw = Buffer | Raw[] | null | undefined;

/** Puts the values of one row together from its columns (Dremel, as in the Parquet format). */
export class RowAssembly {
  readonly #raw: Raw[];
  readonly #columns: readonly SchemaNode[];

  constructor(columns: readonly SchemaNode[]) {
    this.#columns = columns;
    this.#raw = new Array<Raw>(columns.length);
  }

  /** Takes the values of a leaf in order. */
  taker({ path }: Leaf): (repetition: number, definition: number, value: Buffer | null) => void {
    const first = this.#columns.indexOf(path[0]!);
    /** Position in the list at each repetition level. */
    const positions = new Array<number>(path.at(-1)!.repetition + 1).fill(0);
    return (repetition, definition, value) => {
      if (repetition > 0) positions[repetition]!++;
      positions.fill(0, repetition + 1);
      let holder = this.#raw;
      let at = first;
      for (const [depth, node] of path.entries()) {
        if (node.isRepeated) {
          const list = (holder[at] ??= []) as Raw[];
          if (definition < node.definition) return;
          holder = list;
          at = positions[node.repetition]!;
        } else if (definition < node.definition) {
          holder[at] ??= null;
          return;
        }
        const child = path[depth + 1];
        if (child === undefined) {
          holder[at] = value;
          return;
        }
        holder = (holder[at] ??= []) as Raw[];
        at = node.children.indexOf(child);
      }
    };
  }

  /** The value of a column, as JSON would hold it; an error if its text is not valid. */
  value(column: number): unknown {
    return shown(this.#columns[column]!, this.#raw[column]);
  }
}

/** Thrown by a value that makes its row a bad record. */
export class BadValue extends Error {
  override readonly name = 'BadValue';
  readonly error: ItemError = itemError('INVALID_ENCODING', 'the row holds bytes that are not text');
}

function shown(node: SchemaNode, raw: Raw): unknown {
  if (!node.isRepeated) return shownOne(node, raw);
  return Array.from(listIn(raw), (element) => shownOne(node, element));
}

function shownOne(node: SchemaNode, raw: Raw): unknown {
  if (raw === undefined || raw === null) return null;
  switch (node.shape) {
    case 'value':
      return valueOf(node, raw as Buffer);
    case 'struct':
      return structOf(node, raw as readonly Raw[]);
    case 'list': {
      const element = elementOf(node);
      const repeated = node.children[0]!;
      return Array.from(listIn((raw as readonly Raw[])[0]), (each) =>
        element === repeated
          ? shownOne(repeated, each)
          : shown(element, (each as readonly Raw[] | null)?.[0]),
      );
    }
    case 'map':
      return mapOf(node, raw as readonly Raw[]);
  }
}

function listIn(raw: Raw): readonly Raw[] {
  return (raw ?? []) as readonly Raw[];
}

/** Without a prototype, so that no name is special. */
function structOf(node: SchemaNode, raw: readonly Raw[]): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>;
  node.children.forEach((child, index) => (object[child.name] = shown(child, raw[index])));
  return object;
}

/** An object; a list of keys and values if a key is no text or occurs twice, so that no value is lost. */
function mapOf(node: SchemaNode, raw: readonly Raw[]): unknown {
  const entry = node.children[0]!;
  const entries = listIn(raw[0]).map((each) => structOf(entry, listIn(each)));
  const [keyName, valueName] = entry.children.map(({ name }) => name) as [string, string];
  const keys = entries.map((each) => each[keyName]);
  const isObject = keys.every((key) => typeof key === 'string') && new Set(keys).size === keys.length;
  if (!isObject) return entries;
  const object = Object.create(null) as Record<string, unknown>;
  for (const each of entries) object[each[keyName] as string] = each[valueName];
  return object;
}

function valueOf({ element }: SchemaNode, bytes: Buffer): unknown {
  switch (element.type) {
    case 'BOOLEAN':
      return bytes[0] === 1;
    case 'INT32':
      return integerOf(element, BigInt(bytes.readInt32LE(0)));
    case 'INT64':
      return integerOf(element, bytes.readBigInt64LE(0));
    case 'FLOAT':
      return bytes.readFloatLE(0);
    case 'DOUBLE':
      return bytes.readDoubleLE(0);
    case 'INT96':
      return timeOf(
        BigInt(bytes.readUInt32LE(8)) * DAY_NANOS - JULIAN_EPOCH + bytes.readBigUInt64LE(0),
        1_000_000n,
      );
    case 'FIXED_LEN_BYTE_ARRAY':
    case 'BYTE_ARRAY':
      return bytesOf(element, bytes);
    case undefined:
      return null;
  }
}

const DAY_NANOS = 86_400_000_000_000n;
/** 1970-01-01 as a Julian day, in nanoseconds. */
const JULIAN_EPOCH = 2_440_588n * DAY_NANOS;

type Element = SchemaNode['element'];

/** A number, or a text where JavaScript's numbers are not exact, as for JSON. */
function integerOf(
  { type, converted_type: converted, logical_type: logical, scale }: Element,
  value: bigint,
): unknown {
  if (converted === 'DATE' || logical?.type === 'DATE')
    return timeOf(value * 86_400_000n, 1n)?.slice(0, 10) ?? null;
  if (logical?.type === 'TIMESTAMP') {
    return timeOf(value, { MILLIS: 1n, MICROS: 1000n, NANOS: 1_000_000n }[logical.unit]);
  }
  if (converted === 'TIMESTAMP_MILLIS') return timeOf(value, 1n);
  if (converted === 'TIMESTAMP_MICROS') return timeOf(value, 1000n);
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') return decimalOf(value, scale ?? 0);
  const isUnsigned =
    converted?.startsWith('UINT_') === true || (logical?.type === 'INTEGER' && !logical.isSigned);
  const exact = isUnsigned && value < 0n ? BigInt.asUintN(type === 'INT32' ? 32 : 64, value) : value;
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : String(exact);
}

/** ISO 8601; null for a time that JavaScript's dates do not reach. */
function timeOf(value: bigint, perMillisecond: bigint): string | null {
  const date = new Date(Number(value / perMillisecond));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** No number has more digits after the point. */
const MAX_SCALE = 100;

function decimalOf(unscaled: bigint, scale: number): string | null {
  if (!(scale >= 0 && scale <= MAX_SCALE)) return null;
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${unscaled < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`;
}

/** Longer numbers are not shown. */
const MAX_DECIMAL_BYTES = 32;

function bytesOf(
  { converted_type: converted, logical_type: logical, scale }: Element,
  bytes: Buffer,
): unknown {
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    if (bytes.length === 0 || bytes.length > MAX_DECIMAL_BYTES) return null;
    return decimalOf(BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`)), scale ?? 0);
  }
  if (logical?.type === 'UUID' && bytes.length === 16) {
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
  const isText = TEXTS.has(converted ?? '') || TEXTS.has(logical?.type ?? '');
  if (!isText && IMAGES.some((magic) => beginsWith(bytes, magic))) {
    return `data:image/unknown;base64,${bytes.toString('base64')}`;
  }
  if (isUtf8(bytes)) return bytes.toString();
  if (isText) throw new BadValue();
  // Only to be recognised as encoded data, which is not judged.
  return `data:application/octet-stream;base64,${bytes.toString('base64', 0, SHOWN_BYTES)}`;
}

const SHOWN_BYTES = 192;
const TEXTS: ReadonlySet<string> = new Set(['UTF8', 'STRING', 'ENUM', 'JSON']);
const IMAGES: readonly Magic[] = ['png', 'jpeg', 'gif', 'webp', 'tiff', 'bmp', 'ico', 'avif', 'heic'];
