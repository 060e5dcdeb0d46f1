import type { Random } from '../../training/random.ts';
import { randomText } from './texts.ts';

/** An input tensor of strings. */
export interface StringTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly values: readonly string[];
}

/** How a client damages a request when it sends it. */
export type Damage =
  /** Truncates the last tensor. */
  | 'truncate'
  /** Sends data that is not a request at all. */
  | 'garble'
  /** Disconnects before the reply. */
  | 'leave';

/** An inference request, whatever its transport. */
export interface UnaryCall {
  /** Description for reports. */
  readonly kind: string;
  readonly inputs: readonly StringTensor[];
  /** Null if the request is valid. */
  readonly fault: Fault | null;
}

interface Fault {
  readonly damage: Damage | null;
  /** The contract's code in the error; null for an error of the protocol, which has none. */
  readonly code: string | null;
}

/** More tokens than fit in the context window of the embedded guard. */
const OVERFLOW_CHARACTERS = 40_000;

/** Makes valid requests of every type, each once. */
export function goodCalls(random: Random, count: number): UnaryCall[] {
  return Array.from({ length: count }, (_, index) => {
    const text = (): string => randomText(random, 1, 60);
    if (index % 6 === 4) return good('response', response(text(), text()));
    if (index % 6 === 5) {
      const session = strings('SESSION_ID', `session ${index}`);
      return good('conversation', [...conversation('user', text(), 'assistant', text()), session]);
    }
    return promptCall(text());
  });
}

/** Makes a valid request for the verdict on a text. */
export function promptCall(text: string): UnaryCall {
  return good('prompt', prompt(text));
}

/** Makes a request with a fault of a kind in BAD_CALLS given by its index. */
export function badCall(random: Random, kind: number): UnaryCall {
  return FAULTS[kind]!(randomText(random, 1, 60));
}

const FAULTS: readonly ((text: string) => UnaryCall)[] = [
  () => bad('blank text', prompt(' \n'), 'EMPTY_CONTENT'),
  () => bad('missing payload', prompt('').slice(0, 2), 'MISSING_PAYLOAD'),
  (text) => bad('wrong role', conversation('robot', text), 'INVALID_ROLE'),
  (text) =>
    bad(
      'conversation without a question',
      conversation('user', text, 'system', text),
      'INVALID_CONVERSATION',
    ),
  (text) => bad('blank turn', conversation('user', text, 'assistant', ' '), 'EMPTY_CONTENT'),
  () => bad('overflow', prompt('x'.repeat(OVERFLOW_CHARACTERS)), 'SEQUENCE_OVERFLOW'),
  (text) => bad('unknown request type', [strings('REQUEST_TYPE', text)], 'GUARD_REJECTED'),
  (text) => bad('unknown tensor', [...prompt(text), strings('TXT', text)], null),
  (text) => bad('wrong shape', [...types('prompt'), { ...strings('TEXT', text), shape: [1, 2] }], null),
  (text) =>
    bad('wrong data type', [...types('prompt'), { ...strings('TEXT', text), datatype: 'INT32' }], null),
  (text) => bad('truncated tensor', prompt(text), null, 'truncate'),
  (text) => bad('no request', prompt(text), null, 'garble'),
  (text) => bad('client leaves', prompt(text), null, 'leave'),
];

/** All kinds of bad requests. */
export const BAD_CALLS: readonly string[] = FAULTS.map((make) => make('text').kind);

function good(kind: string, inputs: readonly StringTensor[]): UnaryCall {
  return { kind, inputs, fault: null };
}

function bad(
  kind: string,
  inputs: readonly StringTensor[],
  code: string | null,
  damage: Damage | null = null,
): UnaryCall {
  return { kind, inputs, fault: { code, damage } };
}

function prompt(text: string): StringTensor[] {
  return [...types('prompt'), strings('TEXT', text)];
}

function response(question: string, text: string): StringTensor[] {
  return [...types('response'), strings('TEXT', question), strings('RESPONSE_TEXT', text)];
}

/** `cells` are the role and the content of each turn. */
function conversation(...cells: string[]): StringTensor[] {
  const shape = [1, cells.length / 2, 2];
  return [...types('multiturn'), { name: 'MESSAGES', datatype: 'BYTES', shape, values: cells }];
}

function types(requestType: string): StringTensor[] {
  return [strings('REQUEST_TYPE', requestType), strings('MODALITY', 'text')];
}

function strings(name: string, value: string): StringTensor {
  return { name, datatype: 'BYTES', shape: [1, 1], values: [value] };
}
