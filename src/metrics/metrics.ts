import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { toolVersion } from '../config/tool-version.ts';
import { METRICS, type MetricName } from './metric-table.ts';

/** Computes the value of a metric from an observation; null if it has none. */
type ValuesOf<Seen, Name extends MetricName> = Partial<Record<Name, (seen: Seen) => number | null>>;

/** Values by one label. */
interface Labelled<Seen, Name extends MetricName> {
  readonly label: string;
  /** Current observations by label value, shared by all metrics of a scrape. */
  readonly look: () => ReadonlyMap<string, Seen> | Promise<ReadonlyMap<string, Seen>>;
  readonly values: ValuesOf<Seen, Name>;
}

/** The metrics of one process, as the table describes them. */
export class Metrics {
  readonly registry = new Registry();

  constructor() {
    this.gauge('guardsweep_build_info').set({ version: toolVersion() }, 1);
  }

  /** Creates a counter. With `collect`, it has only the values set at each scrape. */
  counter(name: MetricName<'counter'>, collect?: (counter: Counter) => unknown): Counter {
    return new Counter({ ...this.#row(name), ...collecting(collect) });
  }

  /** Like `counter`, but for gauges. */
  gauge(name: MetricName<'gauge'>, collect?: (gauge: Gauge) => unknown): Gauge {
    return new Gauge({ ...this.#row(name), ...collecting(collect) });
  }

  histogram(name: MetricName<'histogram'>, buckets: number[]): Histogram {
    return new Histogram({ ...this.#row(name), buckets });
  }

  /** Gauges of the observations at each scrape. */
  gaugesBy<Seen>({ label, look, values }: Labelled<Seen, MetricName<'gauge'>>): void {
    const lookOnce = shared(look);
    for (const [name, valueOf] of entriesOf(values)) {
      this.gauge(name, async (gauge) => {
        for (const [key, seen] of await lookOnce()) {
          const value = valueOf(seen);
          if (value !== null) gauge.set({ [label]: key }, value);
        }
      });
    }
  }

  #row(name: MetricName): { name: string; help: string; labelNames: string[]; registers: Registry[] } {
    const { help, labels } = METRICS[name];
    return { name, help, labelNames: [...labels], registers: [this.registry] };
  }
}

function collecting<M extends Counter | Gauge>(
  collect: ((metric: M) => unknown) | undefined,
): { collect?: (this: M) => Promise<void> } {
  if (collect === undefined) return {};
  return {
    async collect() {
      this.reset();
      await collect(this);
    },
  };
}

function shared<T>(look: () => T | Promise<T>): () => Promise<T> {
  let looking: Promise<T> | null = null;
  return () => (looking ??= Promise.resolve(look()).finally(() => (looking = null)));
}

function entriesOf<Seen, Name extends MetricName>(
  values: ValuesOf<Seen, Name>,
): [Name, (seen: Seen) => number | null][] {
  return Object.entries(values) as [Name, (seen: Seen) => number | null][];
}
