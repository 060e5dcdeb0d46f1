import { resolve } from 'node:path';

/** A program and its arguments. A program with a slash is relative to `folder`; one without is looked up in PATH. */
export function commandOf([program, ...args]: readonly string[], folder: string): readonly string[] {
  return [program!.includes('/') ? resolve(folder, program!) : program!, ...args];
}
