import { Failure } from '../../../domain/failure.ts';

/** Runs a command of this folder: a Failure becomes one line on stderr and its exit status. */
export async function runTool(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitStatus;
  }
}
