import type { Random } from '../../training/random.ts';
import type { Caller, Exchange } from './load.ts';
import { between, pick } from './texts.ts';
import { BAD_CALLS, badCall, type UnaryCall } from './unary-calls.ts';

/** A client's result for its request. */
export type UnaryAnswer =
  /** The id in the reply, and its tensors as text. */
  | { readonly id: string; readonly verdict: string }
  /** The transport's status name, and the text of the error. */
  | { readonly status: string; readonly text: string }
  /** No answer: the client left. */
  | 'left';

/** A separate client, without retries or shared connections. */
export interface UnaryClient {
  /** The status of a rejected request. */
  readonly refusal: string;
  send(call: UnaryCall, id: string): Promise<UnaryAnswer>;
  close(): void;
}

/** A valid request and its expected verdict. */
export interface Judged {
  readonly call: UnaryCall;
  readonly verdict: string;
}

/** Gets the verdicts on valid requests, one request at a time. */
export async function judgeAlone(calls: readonly UnaryCall[], client: UnaryClient): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const [index, call] of calls.entries()) {
    const answer = await client.send(call, `reference ${index}`);
    if (answer === 'left' || !('verdict' in answer)) throw new Error(`no verdict: ${JSON.stringify(answer)}`);
    judged.push({ call, verdict: answer.verdict });
  }
  return judged;
}

const BAD_SHARE = 0.05;

/**
 * Creates a caller that sends random requests, one after another, and checks each answer. The first is a bad one, of a
 * different kind for each `number`.
 */
export function unaryCaller(
  number: number,
  client: UnaryClient,
  good: readonly Judged[],
  random: Random,
): Caller {
  let count = 0;
  return {
    async exchange(): Promise<Exchange> {
      const id = `caller ${number}, request ${++count}`;
      if (count === 1 || random() < BAD_SHARE) {
        const kind = count === 1 ? number % BAD_CALLS.length : between(random, 0, BAD_CALLS.length - 1);
        const call = badCall(random, kind);
        const wrong = whyNotRefused(call, id, await client.send(call, id), client.refusal);
        return { kind: call.kind, isBad: true, wrong };
      }
      const { call, verdict } = pick(random, good);
      const answer = await client.send(call, id);
      const isRight =
        answer !== 'left' && 'verdict' in answer && answer.verdict === verdict && answer.id === id;
      const wrong = isRight ? null : `${id}: ${JSON.stringify(answer)} instead of ${verdict}`;
      return { kind: call.kind, isBad: false, wrong };
    },
    close: () => client.close(),
  };
}

/** Why an answer is wrong; null if it is the documented error of this request. */
function whyNotRefused(
  { fault }: UnaryCall,
  id: string,
  answer: UnaryAnswer,
  refusal: string,
): string | null {
  const { damage, code } = fault!;
  if (damage === 'leave' && answer === 'left') return null;
  const named = `[request id: ${damage === 'garble' ? '<id_unknown>' : id}] `;
  if (answer !== 'left' && 'status' in answer && answer.status === refusal && answer.text.startsWith(named)) {
    const [found] = /^[A-Z]+(_[A-Z]+)+(?=: )/.exec(answer.text.slice(named.length)) ?? [null];
    if (found === code) return null;
  }
  return `${id}: ${JSON.stringify(answer)} instead of ${refusal} ${code ?? 'without a code'}`;
}
