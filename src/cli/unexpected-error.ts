import { Failure } from '../domain/failure.ts';

/** An error that nobody foresaw, as a failure with exit status 1. Its message may quote what was being read. */
export function unexpectedFailure(error: unknown): Failure {
  const name = error instanceof Error ? error.name : typeof error;
  const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
  return new Failure(
    'internal',
    `unexpected error (${name}${code}); GUARDSWEEP_DEBUG=1 shows where it happened`,
    { cause: error },
  );
}

/**
 * Where an error and its causes were made, for a developer: names, codes and stack frames, one per line. Messages are
 * left out, since a message can quote content.
 */
export function describeUnexpected(error: unknown): string[] {
  const lines: string[] = [];
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth++, current = current.cause) {
    const code = 'code' in current ? ` (${String(current.code)})` : '';
    const stack = current.stack ?? '';
    const afterMessage = stack.slice(stack.indexOf(current.message) + current.message.length);
    const frames = afterMessage.split('\n').filter((line) => /^\s+at /.test(line));
    lines.push(`${depth === 0 ? '' : 'caused by '}${current.name}${code}`, ...frames);
  }
  return lines;
}
