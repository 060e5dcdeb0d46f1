/** The target of a figure. */
type Reach = { readonly atLeast: number } | { readonly atMost: number };

/** One measured quantity: median, minimum and maximum over the rounds. */
export interface Figure {
  readonly name: string;
  /** Empty for a ratio. */
  readonly unit: string;
  readonly measured: number;
  readonly lowest: number;
  readonly highest: number;
  readonly rounds: number;
  /** Null if the figure is informational and has no target. */
  readonly reach: Reach | null;
}

/** Makes a figure from the values of at least one round. */
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

/** Whether the target is reached; null without a target. */
export function isReached({ measured, reach }: Figure): boolean | null {
  if (reach === null) return null;
  return 'atLeast' in reach ? measured >= reach.atLeast : measured <= reach.atMost;
}

/** The middle value, or the mean of the two middle values. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
  return (lower + upper) / 2;
}

/** Ratios of two series of rounds, round by round. */
export function ratios(values: readonly number[], references: readonly number[]): number[] {
  return values.map((value, round) => value / references[round]!);
}
