/** In valid JSON, nothing up to here but white space stands between tokens. */
const SPACE = 0x20;

/**
 * Whether an object anywhere in a JSON text has a name twice, of which the parser keeps the last value only. `value` is
 * what the text was parsed to. Goes from quote to quote, so that a long string costs next to nothing.
 */
export function hasRepeatedNames(json: string, value: unknown): boolean {
  return typeof value === 'object' && value !== null && writtenNames(json) !== keptNames(value);
}

/** Number of names in a valid JSON text: of the strings that a colon follows. */
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

/** Whether an odd number of backslashes stands before an index. */
function isEscaped(json: string, index: number): boolean {
  let from = index;
  while (json[from - 1] === '\\') from--;
  return (index - from) % 2 === 1;
}

/** Number of names in the objects of a parsed value, however deep they are. */
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
