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

/** Size of a null, a number or an empty list. */
const VALUE_BYTES = 8;

const IMAGES: readonly Magic[] = ['png', 'jpeg', 'gif', 'webp', 'tiff', 'bmp', 'ico', 'avif', 'heic'];

/** Converts the values of a row to JSON values, and measures the row. */
export class RowValues {
  /** Size of the row so far. */
  bytes = 0;

  toJson(type: DuckDBType, value: DuckDBValue): unknown {
    this.bytes += VALUE_BYTES;
    if (value === null) return null;
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
        return (value as DuckDBListValue).items.map((each) => this.toJson(valueType, each));
      }
      case DuckDBTypeId.STRUCT:
        return this.#struct(type, value as DuckDBStructValue);
      case DuckDBTypeId.MAP:
        return this.#map(type, value as DuckDBMapValue);
      default:
        return scalar(value);
    }
  }

  /** The object has no prototype, so no name is special. */
  #struct({ entryNames, entryTypes }: DuckDBStructType, value: DuckDBStructValue): unknown {
    const object = Object.create(null) as Record<string, unknown>;
    entryNames.forEach((name, index) => {
      object[name] = this.toJson(entryTypes[index]!, value.entries[name]!);
    });
    return object;
  }

  /** Returns an object, or a list of keys and values if a key is not text or occurs twice, so no value is lost. */
  #map({ keyType, valueType }: DuckDBMapType, { entries }: DuckDBMapValue): unknown {
    const pairs = entries.map(({ key, value }) => ({
      key: this.toJson(keyType, key),
      value: this.toJson(valueType, value),
    }));
    const keys = new Set(pairs.map(({ key }) => key));
    const isObject = keys.size === pairs.length && pairs.every(({ key }) => typeof key === 'string');
    if (!isObject) return pairs;
    const object = Object.create(null) as Record<string, unknown>;
    for (const { key, value } of pairs) object[key as string] = value;
    return object;
  }

  /** Returns text, or a `data:` URL of an image or of other bytes. Always complete, because the result is hashed. */
  #bytes({ bytes: { buffer, byteOffset, byteLength } }: DuckDBBlobValue): string {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.bytes += bytes.length;
    const isImage = IMAGES.some((magic) => hasMagicBytes(bytes, magic));
    if (!isImage && isUtf8(bytes)) return bytes.toString();
    return `data:${isImage ? 'image/unknown' : 'application/octet-stream'};base64,${bytes.toString('base64')}`;
  }
}

/** Returns a number, or a string if JavaScript's numbers are not exact; times in ISO 8601. */
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

/** Null for a time outside the range of JavaScript's dates. */
function timeOf(value: bigint, perMillisecond: bigint): string | null {
  const date = new Date(Number(value / perMillisecond));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Whether values of a type may be or contain text or images. */
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

/** The paths of text inside a column. */
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
