/**
 * Item errors: the outcome of an item without a verdict. Code and reason are stable and part of the record format. No
 * logic depends on the message.
 */

const RETRYABLE_BY_CODE = {
  // the guard's six validation failures
  MISSING_PAYLOAD: false,
  INVALID_CONVERSATION: false,
  INVALID_ROLE: false,
  EMPTY_CONTENT: false,
  UNSUPPORTED_AUDIO_TYPE: false,
  SEQUENCE_OVERFLOW: false,
  // found while reading
  UNSUPPORTED_TYPE: false,
  MALFORMED_ROW: false,
  INVALID_ENCODING: false,
  ITEM_TOO_LARGE: false,
  CORRUPT_MEDIA: false,
  MEDIA_TOO_LARGE: false,
  UNREADABLE_SOURCE: false,
  SOURCE_CHANGED: false,
  // found while judging
  GUARD_REJECTED: false,
  PROBE_NOT_LOADED: false,
  INVALID_REPLY: false,
  GUARD_UNAVAILABLE: true,
  GUARD_OVERLOADED: true,
  GUARD_INTERNAL: true,
  TIMEOUT: true,
  INTERNAL: true,
} as const;

export type ItemCode = keyof typeof RETRYABLE_BY_CODE;

export const ITEM_CODES = Object.keys(RETRYABLE_BY_CODE) as readonly ItemCode[];

/** Causes with a specific fix, which the summary counts and explains; each belongs to one code. */
const CODE_OF_REASON = {
  /** ffmpeg or ffprobe is not installed on the machine that judges the clip. */
  ffmpeg_missing: 'INTERNAL',
  /** A file type that is not judged. The user has to convert the file. */
  file_type: 'UNSUPPORTED_TYPE',
  /** A string of a record that is base64, hex or similar. The user has to decode it. */
  encoded_content: 'UNSUPPORTED_TYPE',
  /** A table, a file of records or a record without a recognised text column. The user has to name one. */
  no_text_column: 'UNSUPPORTED_TYPE',
  /** A Parquet file in an unsupported codec, such as the old LZ4. The user has to rewrite it. */
  parquet_codec: 'UNSUPPORTED_TYPE',
  /** A record that is not a prompt with its response, in a source whose generations are replayed. */
  no_generation: 'UNSUPPORTED_TYPE',
} as const satisfies Readonly<Record<string, ItemCode>>;

export type ItemErrorReason = keyof typeof CODE_OF_REASON;

export const ITEM_ERROR_REASONS = Object.keys(CODE_OF_REASON) as readonly ItemErrorReason[];

export interface ItemError {
  readonly code: ItemCode;
  /**
   * Human-readable. Contains only our own words, numbers and positions: messages of a parser or a guard may quote
   * content, and this string is persisted.
   */
  readonly message: string;
  /** True if the code is normally final but the cause is transient, such as a file that cannot be opened right now. */
  readonly retryable?: boolean;
  readonly reason?: ItemErrorReason;
}

/** Codes that are retryable or final, depending on the cause. */
const BY_CAUSE: ReadonlySet<ItemCode> = new Set<ItemCode>(['UNREADABLE_SOURCE']);

/** Whether `retry` may try an item with this error again. */
export function isRetryable({ code, retryable = false }: Pick<ItemError, 'code' | 'retryable'>): boolean {
  return RETRYABLE_BY_CODE[code] || retryable;
}

/** Codes for a file that could not be read or that changed. They do not depend on the content. */
const OF_FILE: ReadonlySet<ItemCode> = new Set<ItemCode>(['UNREADABLE_SOURCE', 'SOURCE_CHANGED']);

/**
 * Whether an error concerns the file of an item rather than its content: the same content in another file may be fine.
 */
export function isFileError(code: ItemCode): boolean {
  return OF_FILE.has(code);
}

/** Whether an error with this code may have this value of `retryable`: most codes allow only one. */
export function mayBeRetryable(code: ItemCode, retryable: boolean): boolean {
  return BY_CAUSE.has(code) || RETRYABLE_BY_CODE[code] === retryable;
}

/** Whether an error with this code may have this reason. */
export function mayHaveReason(code: ItemCode, reason: ItemErrorReason): boolean {
  return CODE_OF_REASON[reason] === code;
}

export function itemError(code: ItemCode, message: string): ItemError {
  return { code, message };
}

/** A retryable error with a code that is normally final. */
export function transientError(code: ItemCode, message: string): ItemError {
  return { code, message, retryable: true };
}

export function errorWithReason(reason: ItemErrorReason, message: string): ItemError {
  return { code: CODE_OF_REASON[reason], message, reason };
}
