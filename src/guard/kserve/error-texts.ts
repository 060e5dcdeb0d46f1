import type { Fault } from '../protocol/call-error.ts';

/** What an error means whose text, in lower case, holds one of these. Plain searches: they are linear in any text. */
export type ErrorText = readonly [parts: readonly string[], fault: Fault];

/** Texts of Triton's core with UNAVAILABLE (503 over HTTP), which it uses for several conditions. */
export const UNAVAILABLE_TEXTS: readonly ErrorText[] = [
  [['exceeds maximum queue size', 'request timeout expired'], { kind: 'overload' }],
  [
    ['shutting down', 'server is stopping', 'server exiting'],
    { kind: 'endpoint', reason: 'shutting down', reached: false },
  ],
  [['not at ready state', 'server not ready'], { kind: 'endpoint', reason: 'not ready', reached: false }],
];

/** Texts of Triton's Python backend with INTERNAL (500 over HTTP). */
export const INTERNAL_TEXTS: readonly ErrorText[] = [
  [['is not healthy'], { kind: 'endpoint', reason: 'model process unhealthy', reached: true }],
  [['failed to process the request(s) for model'], { kind: 'execution' }],
];

/** The first meaning that fits a text; null: none does. */
export function faultIn(text: string, meanings: readonly ErrorText[]): Fault | null {
  const lower = text.toLowerCase();
  return meanings.find(([parts]) => parts.some((part) => lower.includes(part)))?.[1] ?? null;
}

/** The text of an error of one request, without the prefix that Triton and its Python backend put before it. */
export function withoutRequestId(text: string): string {
  return text.replace(/^\[request id: [^\]]*\]\s*/, '');
}
