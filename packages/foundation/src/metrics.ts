import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** The values of a metric's labels, by label name. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Name, help text and labels of a metric. */
export interface MetricOptions {
  /** In Prometheus' style: causeway_openstack_requests_total. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A metric that only grows. */
export interface CounterMetric {
  /** Adds `by` (1 by default, never negative). */
  increment(labels?: MetricLabels, by?: number): void;
}
/** A metric that is what it was last set to. */
export interface GaugeMetric {
  set(value: number, labels?: MetricLabels): void;
  add(by: number, labels?: MetricLabels): void;
  /** Forgets the values of all labels: before those of what there is now are set. */
  clear(): void;
  /** Called before each rendering: a value that changes by itself is set then. Returns how to end that. */
  onRender(handler: () => void): () => void;
}
/** A metric of how many observations are in each bucket. */
export interface HistogramMetric {
  /** Takes in one value, in the unit the name says (seconds, bytes). */
  observe(value: number, labels?: MetricLabels): void;
}

/** A registry of metrics. The same name returns the same metric. */
export interface Metrics {
  counter(options: MetricOptions): CounterMetric;
  gauge(options: MetricOptions): GaugeMetric;
  histogram(options: MetricOptions & { readonly buckets?: readonly number[] }): HistogramMetric;
  /** All metrics in Prometheus' text format. */
  render(): Promise<string>;
  /** The content type of what `render` gives. */
  readonly contentType: string;
}

/** Metrics kept in `registry`, or in one of their own. */
export function createMetrics(registry: Registry = new Registry()): Metrics {
  const known = new Map<string, unknown>();
  const once = <T>(kind: string, name: string, make: () => T): T => {
    const key = `${kind} ${name}`;
    const made = (known.get(key) as T | undefined) ?? make();
    known.set(key, made);
    return made;
  };
  const settings = (options: MetricOptions) => ({
    name: options.name,
    help: options.help,
    labelNames: [...(options.labels ?? [])],
    registers: [registry],
  });
  return {
    counter: (options) =>
      once("counter", options.name, () => {
        const counter = new Counter(settings(options));
        return { increment: (labels = {}, by = 1) => counter.inc(labels, by) };
      }),
    gauge: (options) =>
      once("gauge", options.name, () => {
        const handlers = new Set<() => void>();
        const gauge = new Gauge({
          ...settings(options),
          collect: () => {
            for (const handler of handlers) handler();
          },
        });
        return {
          onRender(handler) {
            handlers.add(handler);
            return () => handlers.delete(handler);
          },
          set: (value, labels = {}) => gauge.set(labels, value),
          add: (by, labels = {}) => gauge.inc(labels, by),
          clear: () => gauge.reset(),
        };
      }),
    histogram: (options) =>
      once("histogram", options.name, () => {
        const buckets = options.buckets === undefined ? {} : { buckets: [...options.buckets] };
        const histogram = new Histogram({ ...settings(options), ...buckets });
        return { observe: (value, labels = {}) => histogram.observe(labels, value) };
      }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
