import { setImmediate } from 'node:timers/promises';
import type { LineWriter } from '../terminal/line-writer.ts';

/** The status of a missing service, since the cause is outside this process. */
const OUTPUT_LOST = 4;

interface Outputs {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

interface LostOutput {
  /** Returns the exit status of a command that ended with `status`: a lost result is not a success. */
  exitStatus(status: number): Promise<number>;
}

/**
 * Keeps a command working when its output cannot be written because the disk is full, the terminal is gone, or the
 * reader of a pipe has exited. That output is dropped. A reader that exits, as in `guardsweep … | head`, has read all
 * it needs; any other lost result is a failure, reported on `said`.
 */
export function dropLostOutput({ stdout, stderr }: Outputs, said: LineWriter): LostOutput {
  let code: string | null = null;
  stderr.on('error', () => {});
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') code ??= error.code ?? 'unknown error';
  });
  return {
    async exitStatus(status) {
      // A stream reports its error only after the write.
      await setImmediate();
      if (code === null) return status;
      const fields = { level: 'error', event: 'failed', code } as const;
      said.say(`the result cannot be written to standard output (${code})`, fields);
      return status === 0 ? OUTPUT_LOST : status;
    },
  };
}
