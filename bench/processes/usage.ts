/** What a process took from its start to its end. */
export interface Usage {
  /** Processor time of all its threads, user and system, in microseconds. */
  readonly cpuUs: number;
  /** Most memory it had resident at any moment, in KiB. */
  readonly maxRssKib: number;
  /** Resident memory on average over its time, looked at every 200 ms, in KiB. */
  readonly meanRssKib: number;
}
