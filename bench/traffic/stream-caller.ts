import type { StreamVerdict } from '../../src/guard/tensors/stream/stream-messages.ts';
import type { Random } from '../../training/random.ts';
import type { Generation } from './generations.ts';
import type { Caller, Exchange } from './load.ts';
import type { StreamClient } from './stream-client.ts';
import { BAD_STREAMS, badStream, goodStream, LEFT, type Script } from './stream-scripts.ts';
import { between, pick } from './texts.ts';

/** A generation, and the verdict on each of its prefixes that may get one, by seq. */
export interface JudgedGeneration {
  readonly generation: Generation;
  readonly verdicts: ReadonlyMap<number, string>;
}

/** Replies on a stream. */
interface Played {
  readonly verdicts: readonly StreamVerdict[];
  readonly status: string;
  readonly text: string;
}

/** Gets the verdicts on generations, one stream at a time. */
export async function streamAlone(
  generations: readonly Generation[],
  client: StreamClient,
): Promise<JudgedGeneration[]> {
  const judged: JudgedGeneration[] = [];
  for (const generation of generations) {
    const { verdicts, status, text } = await play(goodStream(generation), client);
    if (status !== 'OK') throw new Error(`no verdict: ${status} ${text}`);
    judged.push({
      generation,
      verdicts: new Map(verdicts.map((verdict) => [verdict.processedUntilSeq, verdictOf(verdict)])),
    });
  }
  return judged;
}

const BAD_SHARE = 0.05;

/** By this time, a part of the stream has been judged. */
const LEAVE_AFTER_MS = 5;

/**
 * Creates a caller that replays random generations, one after another, and checks every verdict and how each stream
 * ends. The first is a bad one, of a different kind for each `number`.
 */
export function streamCaller(
  number: number,
  client: StreamClient,
  good: readonly JudgedGeneration[],
  random: Random,
): Caller {
  let count = 0;
  return {
    async exchange(): Promise<Exchange> {
      const judged = pick(random, good);
      const isFirst = ++count === 1;
      const isBad = isFirst || random() < BAD_SHARE;
      const kind = isFirst ? number % BAD_STREAMS.length : between(random, 0, BAD_STREAMS.length - 1);
      const script = isBad ? badStream(random, judged.generation, kind) : goodStream(judged.generation);
      const why = whyWrong(script, await play(script, client), judged);
      return {
        kind: script.kind,
        isBad,
        wrong: why === null ? null : `caller ${number}, stream ${count}: ${why}`,
      };
    },
    close: () => client.close(),
  };
}

function whyWrong(
  { status, text, isComplete }: Script,
  played: Played,
  { verdicts: known }: JudgedGeneration,
): string | null {
  let last = -1;
  for (const verdict of played.verdicts) {
    const { processedUntilSeq } = verdict;
    const expected = known.get(processedUntilSeq) ?? (processedUntilSeq === -1 ? NOTHING : 'none there');
    if (verdictOf(verdict) !== expected) return `${JSON.stringify(verdict)} instead of ${expected}`;
    if (processedUntilSeq < last) return 'verdicts go back';
    last = processedUntilSeq;
  }
  if (played.status !== status || !played.text.includes(text)) {
    return `${played.status} ${played.text} instead of ${status} ${text}`;
  }
  const hasFinal = played.verdicts.some(({ isFinal }) => isFinal);
  return hasFinal === isComplete ? null : `${hasFinal ? 'a' : 'no'} final verdict`;
}

function verdictOf({ flagged, needsCaution, score, isFinal }: StreamVerdict): string {
  return `flagged ${flagged}, needs caution ${needsCaution}, score ${score}, final ${isFinal}`;
}

/** The verdict before anything is judged. */
const NOTHING = 'flagged false, needs caution false, score null, final false';

/** Plays a script on a new stream, until the stream ends. */
function play({ messages, then }: Script, client: StreamClient): Promise<Played> {
  return new Promise((resolve) => {
    const verdicts: StreamVerdict[] = [];
    const stream = client.open({
      verdict: (verdict) => {
        verdicts.push(verdict);
        if (!verdict.isFinal) return;
        if (then === 'end') stream.end();
        else if (then !== null && typeof then === 'object') stream.send(then);
      },
      ended: (status, text) => resolve({ verdicts, status: then === 'leave' ? LEFT : status, text }),
    });
    for (const message of messages) {
      if (message === 'nonsense') stream.sendNonsense();
      else stream.send(message);
    }
    if (then === 'leave') setTimeout(() => stream.leave(), LEAVE_AFTER_MS);
  });
}
