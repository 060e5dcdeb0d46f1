import { z } from 'zod';
import { CONTRACT_CODES } from '../contract/request-error.ts';

/** When a fault begins and how it ends; without an end it lasts. */
const WHEN = {
  /** Rows judged before it begins. */
  after: z.int().min(0).default(0),
  /** Milliseconds from its beginning to its end. */
  forMs: z.number().positive().optional(),
  /** How often it strikes. */
  times: z.int().positive().optional(),
};

/** A request is struck when one of its texts holds this; without it, every request is. */
const CONTAINING = z.string().min(1).optional();

const FAULT = z.discriminatedUnion('kind', [
  /** The request is refused with a code of the contract. */
  z.strictObject({
    kind: z.literal('refuse'),
    ...WHEN,
    containing: z.string().min(1),
    code: z.enum(CONTRACT_CODES),
  }),
  /** The model raises: every request of the execution fails. */
  z.strictObject({ kind: z.literal('crash'), ...WHEN, containing: CONTAINING }),
  /** The reply breaks its own shape, holds a score that is no number, lacks SCORE, or is cut short. */
  z.strictObject({
    kind: z.literal('malformed'),
    ...WHEN,
    containing: CONTAINING,
    reply: z.enum(['shape', 'nan', 'missing', 'truncated']),
  }),
  /** This share of the requests finds the queue full. */
  z.strictObject({ kind: z.literal('overload'), ...WHEN, rate: z.number().gt(0).max(1).default(1) }),
  /** Executions take this many times as long. */
  z.strictObject({ kind: z.literal('slow'), ...WHEN, factor: z.number().positive() }),
  /** Requests and readiness checks find the server up but not ready, or nobody listening. */
  z.strictObject({
    kind: z.literal('down'),
    after: WHEN.after,
    forMs: WHEN.forMs,
    how: z.enum(['not-ready', 'closed']).default('not-ready'),
  }),
  /** Another version of the model is loaded. */
  z.strictObject({ kind: z.literal('swap-version'), after: WHEN.after }),
]);

const FAULTS = z.strictObject({ faults: z.array(FAULT) });

/** A fault as it is scripted, with defaults left out. */
export type Fault = z.input<typeof FAULT>;
type CompleteFault = z.output<typeof FAULT>;
type FaultKind = CompleteFault['kind'];
type FaultOf<K extends FaultKind> = Extract<CompleteFault, { kind: K }>;

/**
 * The faults of a script: JSON of the form `{"faults": [{"kind": "crash", "times": 1}, …]}`.
 * Throws a ZodError or a SyntaxError.
 */
export function parseFaults(json: string): readonly Fault[] {
  return FAULTS.parse(JSON.parse(json)).faults;
}

interface Scripted {
  readonly fault: CompleteFault;
  startedAtMs: number | null;
  strikes: number;
  /** What is left over of `rate` from request to request, so that no chance is involved. */
  share: number;
}

/** Which faults are in force. They begin by the number of rows judged since the script was set. */
export class FaultScript {
  readonly #scripted: readonly Scripted[];

  /** Throws a ZodError for faults that are not well formed. */
  constructor(faults: readonly Fault[]) {
    this.#scripted = FAULTS.parse({ faults }).faults.map((fault) => ({
      fault,
      startedAtMs: null,
      strikes: 0,
      share: 0,
    }));
  }

  /** Begins the faults that are due and returns those that just began. */
  begin(rowsJudged: number): readonly CompleteFault[] {
    const begun: CompleteFault[] = [];
    for (const scripted of this.#scripted) {
      if (scripted.startedAtMs !== null || scripted.fault.after > rowsJudged) continue;
      scripted.startedAtMs = performance.now();
      begun.push(scripted.fault);
    }
    return begun;
  }

  /** The first fault of a kind that is in force and that `strikes` accepts; it is counted as having struck. */
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

  /** Whether a fault of a kind is in force; it is not counted. */
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

/** Whether it is this request's turn, of a fault that strikes a share of them. */
function takesShare(scripted: Scripted): boolean {
  if (scripted.fault.kind !== 'overload') return true;
  scripted.share += scripted.fault.rate;
  if (scripted.share < 1) return false;
  scripted.share -= 1;
  return true;
}
