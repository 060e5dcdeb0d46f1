import { isUtf8 } from 'node:buffer';
import {
  type DuckDBBlobValue,
  DuckDBDateValue,
  type DuckDBListValue,
  type DuckDBMapValue,
  type DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTypeId,
  type DuckDBListType,
  type DuckDBMapType,
  type DuckDBStructType,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { hasMagicBytes, type Magic } from '../../../domain/magic-bytes.ts';
import { chooseDecoder } from '../../encoding/decoder.ts';
import type { ReadRequest } from './messages.ts';

/** What a null, a number or an empty list costs. */
const VALUE_BYTES = 8;

const IMAGES: readonly Magic[] = ['png', 'jpeg', 'gif', 'webp', 'tiff', 'bmp', 'ico', 'avif', 'heic'];

/** Shows the values of a row as JSON holds them, and measures it. */
export class ShownValues {
  /** Size of the row so far. */
  bytes = 0;
  /** Whether a value of the column so far is bytes that are not text. */
  hasUndecoded = false;
  /** In how many lists and objects the value is. */
  #depth = 0;
  readonly #encoding: string | null;
  readonly #bytesAreTexts: boolean;

  constructor({ encoding, bytesAreTexts }: Pick<ReadRequest, 'encoding' | 'bytesAreTexts'>) {
    this.#encoding = encoding;
    this.#bytesAreTexts = bytesAreTexts;
  }

  show(type: DuckDBType, value: DuckDBValue): unknown {
    this.bytes += VALUE_BYTES;
    if (value === null) return null;
    this.#depth++;
    const shown = this.#shown(type, value);
    this.#depth--;
    return shown;
  }

  #shown(type: DuckDBType, value: Exclude<DuckDBValue, null>): unknown {
    switch (type.typeId) {
      case DuckDBTypeId.VARCHAR:
      case DuckDBTypeId.ENUM:
        this.bytes += Buffer.byteLength(value as string);
        return value;
      case DuckDBTypeId.BLOB:
        return this.#bytes(value as DuckDBBlobValue);
      case DuckDBTypeId.LIST:
      case DuckDBTypeId.ARRAY: {
        const { valueType } = type as DuckDBListType;
        return (value as DuckDBListValue).items.map((each) => this.show(valueType, each));
      }
      case DuckDBTypeId.STRUCT:
        return this.#struct(type, value as DuckDBStructValue);
      case DuckDBTypeId.MAP:
        return this.#map(type, value as DuckDBMapValue);
      default:
        return scalar(value);
    }
  }

  /** Without a prototype, so that no name is special. */
  #struct({ entryNames, entryTypes }: DuckDBStructType, value: DuckDBStructValue): unknown {
    const object = Object.create(null) as Record<string, unknown>;
    entryNames.forEach((name, index) => {
      object[name] = this.show(entryTypes[index]!, value.entries[name]!);
    });
    return object;
  }

  /** An object; a list of keys and values if a key is no text or occurs twice, so that no value is lost. */
  #map({ keyType, valueType }: DuckDBMapType, { entries }: DuckDBMapValue): unknown {
    const shown = entries.map(({ key, value }) => ({
      key: this.show(keyType, key),
      value: this.show(valueType, value),
    }));
    const keys = new Set(shown.map(({ key }) => key));
    const isObject = keys.size === shown.length && shown.every(({ key }) => typeof key === 'string');
    if (!isObject) return shown;
    const object = Object.create(null) as Record<string, unknown>;
    for (const { key, value } of shown) object[key as string] = value;
    return object;
  }

  /** Bytes: an image, a text, or not decoded. Always whole: what is shown of them is what is hashed. */
  #bytes({ bytes: { buffer, byteOffset, byteLength } }: DuckDBBlobValue): string {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.bytes += bytes.length;
    const isImage = IMAGES.some((magic) => hasMagicBytes(bytes, magic));
    const isText = isUtf8(bytes);
    if (isText && (this.#bytesAreTexts || !isImage)) return bytes.toString();
    if (isImage) return dataUrl('image/unknown', bytes);
    const isBinary = bytes.some((byte) => CONTROLS.has(byte));
    if (this.#encoding !== null && (!isBinary || /^utf-16/i.test(this.#encoding))) {
      const decoder = chooseDecoder(this.#encoding, bytes);
      const decoded = Buffer.concat([decoder.write(bytes), decoder.end()]);
      if (isUtf8(decoded)) return decoded.toString();
    }
    this.hasUndecoded = true;
    return isBinary || this.#depth > 1
      ? dataUrl('application/octet-stream', bytes)
      : bytes.toString('latin1');
  }
}

/** Control characters that no text has, whatever its encoding. */
const CONTROLS: ReadonlySet<number> = new Set(
  Array.from({ length: 0x20 }, (_, code) => code).filter(
    (code) => ![0x09, 0x0a, 0x0c, 0x0d, 0x1b].includes(code),
  ),
);

function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString('base64')}`;
}

/** A number, or a text where JavaScript's numbers are not exact; times in ISO 8601. */
function scalar(value: DuckDBValue): unknown {
  if (value instanceof DuckDBDateValue) {
    return timeOf(BigInt(value.days) * 86_400_000n, 1n)?.slice(0, 10) ?? null;
  }
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue) {
    return timeOf(value.micros, 1000n);
  }
  if (value instanceof DuckDBTimestampMillisecondsValue) return timeOf(value.millis, 1n);
  if (value instanceof DuckDBTimestampNanosecondsValue) return timeOf(value.nanos, 1_000_000n);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value);
}

/** Null for a time that JavaScript's dates do not reach. */
function timeOf(value: bigint, perMillisecond: bigint): string | null {
  const date = new Date(Number(value / perMillisecond));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Whether values of a type may be texts or images. */
export function mayHoldText(type: DuckDBType): boolean {
  switch (type.typeId) {
    case DuckDBTypeId.VARCHAR:
    case DuckDBTypeId.ENUM:
    case DuckDBTypeId.BLOB:
      return true;
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
      return mayHoldText((type as DuckDBListType).valueType);
    case DuckDBTypeId.STRUCT:
      return type.entryTypes.some(mayHoldText);
    case DuckDBTypeId.MAP:
      return mayHoldText(type.keyType) || mayHoldText(type.valueType);
    default:
      return false;
  }
}

/** The paths of the texts inside a column. */
export function textPaths(name: string, type: DuckDBType): readonly string[] {
  const below = (path: string, inner: DuckDBType): readonly string[] => {
    switch (inner.typeId) {
      case DuckDBTypeId.LIST:
      case DuckDBTypeId.ARRAY:
        return below(path, (inner as DuckDBListType).valueType);
      case DuckDBTypeId.STRUCT: {
        const { entryNames, entryTypes } = inner;
        return entryNames.flatMap((each, index) => below(`${path}.${each}`, entryTypes[index]!));
      }
      case DuckDBTypeId.MAP: {
        const { keyType, valueType } = inner;
        return [...below(`${path}.key`, keyType), ...below(`${path}.value`, valueType)];
      }
      default:
        return mayHoldText(inner) ? [path] : [];
    }
  };
  const isPlain = type.typeId === DuckDBTypeId.VARCHAR || type.typeId === DuckDBTypeId.BLOB;
  return isPlain || type.typeId === DuckDBTypeId.ENUM ? [] : below(name, type);
}
