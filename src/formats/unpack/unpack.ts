import type { FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { LineProcess, ProcessFailure, type ProcessFault } from '../../confinement/line-process.ts';
import type { Container } from './container-kind.ts';
import {
  answer,
  MAX_ANSWER_BYTES,
  type Request,
  type UnpackedPart,
  type UnpackLimits,
  type Why,
} from './messages.ts';

/** Entry point of the process, which runs compiled code. */
const ENTRY = createRequire(import.meta.url).resolve('#dist/src/formats/unpack/child/main.js');

/** Memory limit of the process: Node itself, a part and its containing file, and both in base64. */
const MEMORY_BYTES = 2 * 1024 * 1024 * 1024;

interface Unpacking {
  readonly container: Container;
  /** Name of the file. */
  readonly name: string;
  readonly limits: UnpackLimits;
  readonly signal: AbortSignal;
}

/**
 * Yields the parts of an open file that contains others, in order, unpacked in a separate sandboxed process: nothing is
 * written to disk, and no name in it is used as a path. A part that exceeds the limits, cannot be read or is encrypted
 * is reported as a problem. The same file always has the same parts. Rejects with the signal's reason when aborted.
 */
export async function* unpack(
  file: Pick<FileHandle, 'fd'>,
  { container, name, limits, signal }: Unpacking,
): AsyncGenerator<UnpackedPart, void> {
  const process = new LineProcess(ENTRY, { memoryBytes: MEMORY_BYTES, descriptors: [file.fd] });
  const options = { maxBytes: MAX_ANSWER_BYTES, signal };
  let request: Request = { op: 'open', container, name, limits };
  try {
    for (;;) {
      const { part } = await process.ask(request, answer, options);
      if (part === null) return;
      yield part;
      request = { op: 'next' };
    }
  } catch (error) {
    if (!(error instanceof ProcessFailure)) throw error;
    yield { kind: 'problem', name: '', why: WHY_OF_FAULT[error.fault], bytes: null, parts: null };
  } finally {
    await process.kill();
  }
}

const WHY_OF_FAULT: Readonly<Record<ProcessFault, Why>> = {
  crashed: 'damaged',
  ended: 'internal',
  'too-large': 'part-too-large',
  'too-slow': 'too-large',
};
