import { setImmediate } from 'node:timers/promises';
import type { LineWriter } from '../terminal/line-writer.ts';

/** As for a service that is not there: something outside this process has to be seen to. */
const OUTPUT_LOST = 4;

interface Outputs {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

export interface LostOutput {
  /** The exit status of a command that ended with `status`: a result that was lost is no success. */
  exitStatus(status: number): Promise<number>;
}

/**
 * Lets work go on when what it says cannot be written: the disk is full, the terminal went away, or nobody reads the
 * pipe any more. That output is dropped. A reader that went away, as in `guardsweep … | head`, wants no more; any other
 * loss of a result is a failure, said on `said`.
 */
export function dropLostOutput({ stdout, stderr }: Outputs, said: LineWriter): LostOutput {
  let code: string | null = null;
  stderr.on('error', () => {});
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') code ??= error.code ?? 'unknown error';
  });
  return {
    async exitStatus(status) {
      // A stream tells of its error after the write.
      await setImmediate();
      if (code === null) return status;
      said.line(`guardsweep: the result cannot be written to standard output (${code})`);
      return status === 0 ? OUTPUT_LOST : status;
    },
  };
}
