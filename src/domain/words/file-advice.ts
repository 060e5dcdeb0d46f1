import type { ItemCode, ItemErrorReason } from '../item-error.ts';
import { fileExtension, conversionAdvice, OTHER_HELP } from './file-kinds.ts';
import { ITEM_ADVICE, REASON_ADVICE } from './item-advice.ts';

interface ErrorCause {
  readonly code: ItemCode;
  readonly reason?: ItemErrorReason | undefined;
}

/** Advice on an item that was not judged, by its cause; for an unsupported file type, by that type. */
export function fileAdvice(path: string, { code, reason }: ErrorCause): string {
  if (reason === 'file_type') return conversionAdvice(fileExtension(path)) ?? OTHER_HELP;
  return (reason === undefined ? ITEM_ADVICE[code] : REASON_ADVICE[reason]).full;
}
