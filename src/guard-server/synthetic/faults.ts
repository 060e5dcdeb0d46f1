import { z } from 'zod';
import { encodeFloats } from '../../guard/tensors/raw.ts';
import type { OutputTensor } from '../contract/model.ts';
import { CONTRACT_CODES } from '../contract/request-error.ts';

/** When a fault starts and ends; without an end, it lasts. */
const WHEN = {
  /** Rows judged before it starts. */
  after: z.int().min(0).default(0),
  /** Its duration in milliseconds. */
  forMs: z.number().positive().optional(),
  /** Max number of times to apply it. */
  times: z.int().positive().optional(),
};

/** Applies to requests with an input that contains this text; if absent, to every request. */
const CONTAINING = z.string().min(1).optional();

const FAULT = z.discriminatedUnion('kind', [
  /** Rejects the request with a code of the contract. */
  z.strictObject({
    kind: z.literal('refuse'),
    ...WHEN,
    containing: z.string().min(1),
    code: z.enum(CONTRACT_CODES),
  }),
  /** The model throws: every request of the execution fails. */
  z.strictObject({ kind: z.literal('crash'), ...WHEN, containing: CONTAINING }),
  /** The reply contradicts its shape, holds NaN as score, lacks SCORE, or is truncated. */
  z.strictObject({
    kind: z.literal('malformed'),
    ...WHEN,
    containing: CONTAINING,
    reply: z.enum(['shape', 'nan', 'missing', 'truncated']),
  }),
  /** Answers this fraction of the requests as if the queue were full. */
  z.strictObject({ kind: z.literal('overload'), ...WHEN, rate: z.number().gt(0).max(1).default(1) }),
  /** Multiplies the time of executions. */
  z.strictObject({ kind: z.literal('slow'), ...WHEN, factor: z.number().positive() }),
  /** The server is not ready, or does not listen. */
  z.strictObject({
    kind: z.literal('down'),
    after: WHEN.after,
    forMs: WHEN.forMs,
    how: z.enum(['not-ready', 'closed']).default('not-ready'),
  }),
  /** Loads the next version of the model. */
  z.strictObject({ kind: z.literal('swap-version'), after: WHEN.after }),
]);

const FAULTS = z.strictObject({ faults: z.array(FAULT) });

/** A fault as written in a script; fields with defaults are optional. */
export type ScriptedFault = z.input<typeof FAULT>;
type CompleteFault = z.output<typeof FAULT>;
type FaultKind = CompleteFault['kind'];
type FaultOf<K extends FaultKind> = Extract<CompleteFault, { kind: K }>;

/**
 * Parses a fault script, JSON such as `{"faults": [{"kind": "crash", "times": 1}]}`.
 * Throws a ZodError or a SyntaxError.
 */
export function parseFaults(json: string): readonly ScriptedFault[] {
  return FAULTS.parse(JSON.parse(json)).faults;
}

interface Scripted {
  readonly fault: CompleteFault;
  startedAtMs: number | null;
  strikes: number;
  /** Accumulates `rate` over requests. The fraction is exact, without randomness. */
  share: number;
}

/** Tracks which faults are active. They start after a number of rows judged since the script was set. */
export class FaultScript {
  readonly #scripted: readonly Scripted[];

  /** Throws a ZodError for malformed faults. */
  constructor(faults: readonly ScriptedFault[]) {
    this.#scripted = FAULTS.parse({ faults }).faults.map((fault) => ({
      fault,
      startedAtMs: null,
      strikes: 0,
      share: 0,
    }));
  }

  /** Starts the faults that are due and returns them. */
  begin(rowsJudged: number): readonly CompleteFault[] {
    const begun: CompleteFault[] = [];
    for (const scripted of this.#scripted) {
      if (scripted.startedAtMs !== null || scripted.fault.after > rowsJudged) continue;
      scripted.startedAtMs = performance.now();
      begun.push(scripted.fault);
    }
    return begun;
  }

  /** Returns the first active fault of a kind that `strikes` accepts. Counts it as applied. */
  strike<K extends FaultKind>(
    kind: K,
    strikes: (fault: FaultOf<K>) => boolean = () => true,
  ): FaultOf<K> | null {
    for (const scripted of this.#scripted) {
      const { fault } = scripted;
      if (!isKind(fault, kind) || !inForce(scripted) || !strikes(fault) || !takesShare(scripted)) continue;
      scripted.strikes++;
      return fault;
    }
    return null;
  }

  /** Whether a fault of a kind is active. Counts nothing. */
  isInForce(kind: FaultKind): boolean {
    return this.#scripted.some((scripted) => scripted.fault.kind === kind && inForce(scripted));
  }
}

function isKind<K extends FaultKind>(fault: CompleteFault, kind: K): fault is FaultOf<K> {
  return fault.kind === kind;
}

function inForce({ fault, startedAtMs, strikes }: Scripted): boolean {
  if (startedAtMs === null || fault.kind === 'swap-version') return false;
  if (fault.kind !== 'down' && fault.times !== undefined && strikes >= fault.times) return false;
  return fault.forMs === undefined || performance.now() < startedAtMs + fault.forMs;
}

/** Whether a fault that applies to a fraction of the requests applies to this one. */
function takesShare(scripted: Scripted): boolean {
  if (scripted.fault.kind !== 'overload') return true;
  scripted.share += scripted.fault.rate;
  if (scripted.share < 1) return false;
  scripted.share -= 1;
  return true;
}

/** Corrupts the tensors of a reply like a broken model. */
export function malform(
  outputs: readonly OutputTensor[],
  how: 'shape' | 'nan' | 'missing' | 'truncated',
): readonly OutputTensor[] {
  const score = (change: (tensor: OutputTensor) => OutputTensor): readonly OutputTensor[] =>
    outputs.map((tensor) => (tensor.name === 'SCORE' ? change(tensor) : tensor));
  switch (how) {
    case 'shape':
      return score((tensor) => ({ ...tensor, shape: [...tensor.shape, 2] }));
    case 'nan':
      return score((tensor) => ({
        ...tensor,
        raw: encodeFloats(new Float32Array(tensor.raw.length / 4).fill(NaN)),
      }));
    case 'missing':
      return outputs.filter(({ name }) => name !== 'SCORE');
    case 'truncated':
      return outputs.map((tensor) => ({ ...tensor, raw: tensor.raw.subarray(0, -1) }));
  }
}
