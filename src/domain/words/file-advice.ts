import type { ItemCode, ItemErrorReason } from '../item-error.ts';
import { fileExtension, conversionAdvice, OTHER_HELP } from './file-kinds.ts';
import { ITEM_ADVICE, REASON_ADVICE } from './item-advice.ts';

interface Unjudged {
  readonly code: ItemCode;
  readonly reason?: ItemErrorReason | undefined;
}

/** What to do about an item that was not judged: by its cause, and for a file of a type that is not read by that type. */
export function fileAdvice(path: string, { code, reason }: Unjudged): string {
  if (reason === 'file_type') return conversionAdvice(fileExtension(path)) ?? OTHER_HELP;
  return (reason === undefined ? ITEM_ADVICE[code] : REASON_ADVICE[reason]).full;
}
