import { addExtension, Packr } from 'msgpackr';

/** Type of the MessagePack extension that contains UTF-16. */
const UTF16_TYPE = 1;

/**
 * A string that UTF-8 cannot represent because it contains half of a surrogate pair. It is unpacked to the string
 * itself.
 */
class Utf16Text {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

addExtension({
  Class: Utf16Text,
  type: UTF16_TYPE,
  pack: ({ text }: Utf16Text) => Buffer.from(text, 'utf16le'),
  unpack: (bytes: Buffer) => bytes.toString('utf16le'),
});

/** Writes field names once per job, not once per item. */
const packr = new Packr({ useRecords: true });

/** Packs the record of a job. Strings, numbers and bytes are unpacked unchanged. */
export function packJob(record: object): Buffer {
  return packr.pack(isUtf8Safe(record) ? record : toUtf8Safe(record));
}

/** Throws for anything that is not MessagePack. The result is not validated. */
export function unpackJob(bytes: Buffer): unknown {
  return packr.unpack(bytes);
}

/** Whether UTF-8 can represent every string of a value. */
function isUtf8Safe(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return true;
  if (Array.isArray(value)) return value.every(isUtf8Safe);
  for (const key in value) if (!isUtf8Safe(value[key as keyof typeof value])) return false;
  return true;
}

function toUtf8Safe(value: unknown): unknown {
  if (typeof value === 'string') return isUtf8Safe(value) ? value : new Utf16Text(value);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return value.map(toUtf8Safe);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, toUtf8Safe(part)]));
}
