import { guard, socketServer } from './guard-pool.ts';
import { ordinary, type ScriptedStream, type StreamScript } from './scripted-streams.ts';

/** A fake guard with moderation streams, over any transport. */
export interface StreamingGuard {
  readonly address: string;
  readonly streams: ScriptedStream[];
  setStreams(script: StreamScript): void;
  kill(): unknown;
}

export const STREAMING_GUARDS: [transport: string, start: () => Promise<StreamingGuard>][] = [
  ['gRPC', () => guard({ streams: ordinary })],
  ['a WebSocket', () => socketServer()],
];

/** Whether a stream is the harmless one with which a client finds out whether a guard takes streams. */
export function isProbe({ messages }: ScriptedStream): boolean {
  return messages[0]!.prompt === 'When does the library open?';
}

/** Plays `script` on generations, and answers the harmless one. */
export function exceptProbe(script: StreamScript): StreamScript {
  return (stream, message) => (isProbe(stream) ? ordinary : script)(stream, message);
}
