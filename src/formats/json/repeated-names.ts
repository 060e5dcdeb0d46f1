/** In valid JSON, characters between tokens up to this code are white space. */
const SPACE = 0x20;

/**
 * Whether any object in a JSON text has a duplicate name, of which the parser keeps only the last value. `value` is the
 * parsed text. Jumps from quote to quote, so that long strings are cheap.
 */
export function hasRepeatedNames(json: string, value: unknown): boolean {
  return typeof value === 'object' && value !== null && writtenNames(json) !== keptNames(value);
}

/** Number of names in a valid JSON text: strings followed by a colon. */
function writtenNames(json: string): number {
  let names = 0;
  for (let open = json.indexOf('"'); open >= 0;) {
    let end = json.indexOf('"', open + 1);
    while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
    let next = end + 1;
    while (json.charCodeAt(next) <= SPACE) next++;
    if (json[next] === ':') names++;
    open = json.indexOf('"', next);
  }
  return names;
}

/** Whether the character at an index follows an odd number of backslashes. */
function isEscaped(json: string, index: number): boolean {
  let from = index;
  while (json[from - 1] === '\\') from--;
  return (index - from) % 2 === 1;
}

/** Number of names in all objects of a parsed value. */
function keptNames(value: object): number {
  let names = 0;
  const left: object[] = [value];
  for (let object = left.pop(); object !== undefined; object = left.pop()) {
    const values: unknown[] = Array.isArray(object) ? object : Object.values(object);
    if (!Array.isArray(object)) names += values.length;
    for (const inner of values) if (typeof inner === 'object' && inner !== null) left.push(inner);
  }
  return names;
}
