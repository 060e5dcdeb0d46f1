import { Failure } from '../src/domain/failure.ts';
import { standardError } from '../src/terminal/standard-streams.ts';

/** Runs a training command. A Failure becomes one line on stderr and its exit status. */
export async function runTool(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    standardError().line(error.message);
    process.exitCode = error.exitStatus;
  }
}
