/**
 * Parses the JSON of a guard. Undefined if it is not JSON, or if an object in it has a duplicate key: the reply is then
 * ambiguous, and `JSON.parse` would keep the second value.
 */
export function parseReply(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return countWrittenKeys(text) === countKeys(value) ? value : undefined;
}

/** Counts the keys in a valid JSON text: every colon outside of a string follows one. */
function countWrittenKeys(text: string): number {
  let keys = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '"') isInString = !isInString;
    else if (character === ':' && !isInString) keys++;
  }
  return keys;
}

function countKeys(root: unknown): number {
  let keys = 0;
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    const values: unknown[] = Array.isArray(value) ? value : Object.values(value);
    if (!Array.isArray(value)) keys += values.length;
    for (const each of values) pending.push(each);
  }
  return keys;
}
