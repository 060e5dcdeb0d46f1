/**
 * Where an error and its causes were made, for a developer: names, codes and stack frames, one a line. Messages are
 * left out, since a message can quote content.
 */
export function describeUnexpected(error: unknown): string {
  let text = '';
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth++, current = current.cause) {
    const code = 'code' in current ? ` (${String(current.code)})` : '';
    const stack = current.stack ?? '';
    const afterMessage = stack.slice(stack.indexOf(current.message) + current.message.length);
    const frames = afterMessage.split('\n').filter((line) => /^\s+at /.test(line));
    text += `${depth === 0 ? '' : 'caused by '}${current.name}${code}\n${frames.map((line) => `${line}\n`).join('')}`;
  }
  return text;
}
