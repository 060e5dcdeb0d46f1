/**
 * Item errors: the outcome of an item that got no verdict. The code is stable and part of the record format;
 * whether it is worth trying again belongs to the code, or to what caused it, never to the message.
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

export interface ItemError {
  readonly code: ItemCode;
  /**
   * For people. Built from our own words, numbers and positions only: text of a parser, a guard or the item
   * can quote content, and this string is persisted.
   */
  readonly message: string;
  /** Set where the code is final as a rule and the cause may pass: a file that this process may not read now. */
  readonly retryable?: boolean;
}

/** Codes whose cause decides whether they may be tried again. */
const BY_CAUSE: ReadonlySet<ItemCode> = new Set<ItemCode>(['UNREADABLE_SOURCE']);

/** Whether `retry` may try an item with this error again. */
export function isRetryable({ code, retryable = false }: Omit<ItemError, 'message'>): boolean {
  return RETRYABLE_BY_CODE[code] || retryable;
}

/** Whether a record may say so of a code: most codes leave no choice. */
export function mayBeRetryable(code: ItemCode, retryable: boolean): boolean {
  return BY_CAUSE.has(code) || RETRYABLE_BY_CODE[code] === retryable;
}

/** An error whose cause may pass, though its code is final as a rule. */
export function passingError(code: ItemCode, message: string): ItemError {
  return { code, message, retryable: true };
}

export function itemError(code: ItemCode, message: string): ItemError {
  return { code, message };
}
