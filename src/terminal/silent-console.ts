import { Writable } from 'node:stream';

/**
 * Takes the console away from libraries. What they print quotes what a server sent them (gRPC a header, a Redis client
 * an error), raw, and can quote content. Errors reach us as errors; nothing of ours uses the console.
 */
export function silenceConsole(): void {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  globalThis.console = new console.Console({ stdout: nowhere, stderr: nowhere });
}
