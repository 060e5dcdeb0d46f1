import type { Fault } from '../protocol/call-error.ts';

type ErrorText = readonly [text: RegExp, fault: Fault];

/** Texts of Triton's core with UNAVAILABLE (503 over HTTP), which it uses for several conditions. */
export const UNAVAILABLE_TEXTS: readonly ErrorText[] = [
  [/exceeds maximum queue size|request timeout expired/i, { kind: 'overload' }],
  [
    /shutting down|server is stopping|server exiting/i,
    { kind: 'endpoint', reason: 'shutting down', reached: false },
  ],
  [/not at ready state|server not ready/i, { kind: 'endpoint', reason: 'not ready', reached: false }],
];

/** Texts of Triton's Python backend with INTERNAL (500 over HTTP). */
export const INTERNAL_TEXTS: readonly ErrorText[] = [
  [/stub process .*is not healthy/is, { kind: 'endpoint', reason: 'model process unhealthy', reached: true }],
  [/failed to process the request\(s\) for model/i, { kind: 'execution' }],
];

/** The text of an error of one request, without the prefix that Triton and its Python backend put before it. */
export function withoutRequestId(text: string): string {
  return text.replace(/^\[request id: [^\]]*\]\s*/, '');
}
