import { LineWriter } from './line-writer.ts';

/** The stdout of this process, for results. */
export function standardOutput(): LineWriter {
  return new LineWriter(process.stdout);
}

/** The stderr of this process, for progress, notices and errors. */
export function standardError(): LineWriter {
  return new LineWriter(process.stderr);
}
