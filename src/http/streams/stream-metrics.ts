import { Counter, Gauge, type Registry } from 'prom-client';

/** The moderation streams of all transports. */
export interface ObservedStreams {
  readonly open: number;
  /** Verdicts given since the start. */
  readonly verdicts: number;
  /** UTF-16 code units of text waiting for a verdict. */
  readonly unjudgedText: number;
}

/** Adds the moderation streams of a server to its metrics. */
export function addStreamMetrics(registry: Registry, streams: ObservedStreams): void {
  const registers = [registry];
  new Gauge({
    name: 'guardsweep_moderation_streams_open',
    help: 'Number of open moderation streams',
    registers,
    collect() {
      this.set(streams.open);
    },
  });
  new Counter({
    name: 'guardsweep_moderation_stream_verdicts_total',
    help: 'Number of verdicts given on moderation streams',
    registers,
    collect() {
      this.reset();
      this.inc(streams.verdicts);
    },
  });
  new Gauge({
    name: 'guardsweep_moderation_streams_unjudged_code_units',
    help: 'UTF-16 code units of text on moderation streams that wait for a verdict',
    registers,
    collect() {
      this.set(streams.unjudgedText);
    },
  });
}
