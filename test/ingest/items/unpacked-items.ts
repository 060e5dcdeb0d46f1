import { writeFileSync } from 'node:fs';
import { DEFAULT_LIMITS } from '../../../src/config/run-config.ts';
import type { Item } from '../../../src/domain/item.ts';
import { asked, corpus, readItems } from '../read-items.ts';

/** The items of a file with such bytes, within the default limits of unpacking but for some. */
export async function readUnpacked(path: string, bytes: Uint8Array | string, limits = {}): Promise<Item[]> {
  writeFileSync(path, bytes);
  return readItems([corpus(path)], { unpack: { ...DEFAULT_LIMITS.unpack, ...limits } });
}

/** What an item is, in a line: its row, part, and kind or code. */
export function itemLine({ source, part, request, settled }: Item): string {
  const kind = request === null ? null : 'embedded' in request ? request.modality : request.requestType;
  return `${source.row} ${part}: ${kind ?? settled?.error?.code}`;
}

/** Parts with their texts, or with their kinds or codes where they have none. */
export const partTexts = (items: readonly Item[]): Record<string, string> =>
  Object.fromEntries(items.map((item) => [item.part ?? '', asked(item)]));
