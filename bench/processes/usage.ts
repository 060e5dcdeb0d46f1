/** Resource usage of a process over its lifetime. */
export interface Usage {
  /** User and system time of all its threads, in microseconds. */
  readonly cpuUs: number;
  /** Peak resident memory, in KiB. */
  readonly maxRssKib: number;
  /** Mean resident memory, sampled every 200 ms, in KiB. */
  readonly meanRssKib: number;
}
