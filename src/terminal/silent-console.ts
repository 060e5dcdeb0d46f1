import { Writable } from 'node:stream';

/**
 * Silences the console, which only libraries use. They print unescaped text from servers, such as a gRPC header or a
 * Redis error, which can quote content. Their errors reach us as exceptions.
 */
export function silenceConsole(): void {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  globalThis.console = new console.Console({ stdout: nowhere, stderr: nowhere });
}
