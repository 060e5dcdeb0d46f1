import { isReadonlyArray } from '../record.ts';
import { argumentsOf, ATTACHMENT_PARTS, calledIn, TEXT_PARTS } from './content.ts';
import { imagePlace } from './attachments.ts';
import { looksEncoded } from './wording.ts';

/** For objects in a message: names whose values are judged with the message or are items of their own. */
export type Taken = ReadonlyMap<object, readonly string[]>;

/** The values taken from the parts of a message's content. */
export function takenFromParts(parts: readonly unknown[]): Taken {
  const taken = new Map<object, string[]>();
  for (const part of parts) {
    if (typeof part !== 'object' || part === null || isReadonlyArray(part)) continue;
    const fields = part as Readonly<Record<string, unknown>>;
    const { type } = fields;
    const kind = ATTACHMENT_PARTS.get(type);
    const isKnown = kind !== undefined || TEXT_PARTS.has(type);
    const own = isKnown ? ['type'] : [];
    taken.set(part, own);
    if (kind === undefined) {
      const text = TEXT_PARTS.get(type) ?? 'text';
      if (typeof fields[text] === 'string') own.push(text);
    } else if (kind === 'image') {
      const place = imagePlace(part);
      if (place !== null) taken.set(place.holder, [...(taken.get(place.holder) ?? []), place.name]);
    } else {
      addEncoded(part, taken);
      for (const inner of Object.values(fields)) {
        if (typeof inner === 'object' && inner !== null && !isReadonlyArray(inner)) addEncoded(inner, taken);
      }
    }
  }
  return taken;
}

/** The values taken from the calls of a message. */
export function takenFromCalls(message: object): Taken {
  const taken = new Map<object, string[]>();
  const { tool_calls: toolCalls } = message as { readonly tool_calls?: unknown };
  for (const call of isReadonlyArray(toolCalls) ? toolCalls : [toolCalls]) {
    const type = typeof call === 'object' && call !== null && 'type' in call ? call.type : null;
    if (type === 'function') taken.set(call as object, ['type']);
  }
  for (const called of calledIn(message)) {
    if (argumentsOf(called) !== null) taken.set(called, [...(taken.get(called) ?? []), 'arguments']);
  }
  return taken;
}

/** Adds encoded audio or file data, which already has an item. */
function addEncoded(holder: object, taken: Map<object, string[]>): void {
  const names = Object.entries(holder)
    .filter(([, value]) => typeof value === 'string' && looksEncoded(value))
    .map(([name]) => name);
  if (names.length > 0) taken.set(holder, [...(taken.get(holder) ?? []), ...names]);
}
