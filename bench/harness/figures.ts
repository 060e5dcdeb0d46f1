/** What a figure is to come to. */
export type Reach = { readonly atLeast: number } | { readonly atMost: number };

/** One measured quantity: the median over the rounds, and between which values it lay. */
export interface Figure {
  readonly name: string;
  /** Empty for a ratio. */
  readonly unit: string;
  readonly measured: number;
  readonly lowest: number;
  readonly highest: number;
  readonly rounds: number;
  /** Null where the figure is shown for what it tells and has nothing to reach. */
  readonly reach: Reach | null;
}

/** A figure from what each round gave; at least one round. */
export function figure(
  name: string,
  unit: string,
  values: readonly number[],
  reach: Reach | null = null,
): Figure {
  return {
    name,
    unit,
    measured: median(values),
    lowest: Math.min(...values),
    highest: Math.max(...values),
    rounds: values.length,
    reach,
  };
}

/** Null where there is nothing to reach. */
export function isReached({ measured, reach }: Figure): boolean | null {
  if (reach === null) return null;
  return 'atLeast' in reach ? measured >= reach.atLeast : measured <= reach.atMost;
}

/** The middle value; the mean of the two in the middle for an even number of them. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
  return (lower + upper) / 2;
}

/** The quotients of two series of rounds, round by round. */
export function ratios(values: readonly number[], references: readonly number[]): number[] {
  return values.map((value, round) => value / references[round]!);
}
