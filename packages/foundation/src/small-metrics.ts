import type { MetricLabels, MetricOptions, Metrics } from "./metrics.ts";

/** One line of a metric's text: what follows the name, and a value. */
interface Sample {
  readonly suffix: string;
  readonly labels: string;
  value: number;
}

/** A metric: its head, and its values by their labels. */
interface Family<T> {
  readonly options: MetricOptions;
  readonly type: "counter" | "gauge" | "histogram";
  readonly values: Map<string, T>;
  readonly lines: (labels: string, value: T) => readonly Sample[];
  readonly handlers: Set<() => void>;
}

interface Buckets {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** As in prom-client, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * A registry of metrics without a library, for programs that are to be small: prom-client takes 8 MiB with the modules
 * of Node that it loads, and a value with labels ten times as long. The text is the same.
 */
export function createSmallMetrics(): Metrics {
  const families = new Map<string, Family<unknown>>();
  const once = <T>(type: Family<T>["type"], options: MetricOptions, lines: Family<T>["lines"]): Family<T> => {
    const known = families.get(options.name);
    if (known && known.type !== type) {
      throw new Error(`A metric with the name ${options.name} has already been registered.`);
    }
    const family = (known as Family<T> | undefined) ?? { options, type, values: new Map(), lines, handlers: new Set() };
    families.set(options.name, family as Family<unknown>);
    return family;
  };
  return {
    counter(options) {
      const { values } = once<number>("counter", options, plain);
      if (isBare(options)) values.set("", values.get("") ?? 0);
      return {
        increment(labels, by = 1) {
          if (!(by >= 0)) throw new Error("It is not possible to decrease a counter");
          const key = textOf(options, labels);
          values.set(key, (values.get(key) ?? 0) + by);
        },
      };
    },
    gauge(options) {
      const { values, handlers } = once<number>("gauge", options, plain);
      const reset = (): void => {
        values.clear();
        if (isBare(options)) values.set("", 0);
      };
      if (values.size === 0) reset();
      return {
        set: (value, labels) => void values.set(textOf(options, labels), value),
        add(by, labels) {
          const key = textOf(options, labels);
          values.set(key, (values.get(key) ?? 0) + by);
        },
        clear: reset,
        onRender(handler) {
          handlers.add(handler);
          return () => handlers.delete(handler);
        },
      };
    },
    histogram(options) {
      const bounds = options.buckets ?? BUCKETS;
      const { values } = once<Buckets>("histogram", options, (labels, value) => histogramLines(bounds, labels, value));
      const start = (): Buckets => ({ counts: bounds.map(() => 0), sum: 0, count: 0 });
      if (isBare(options)) values.set("", values.get("") ?? start());
      return {
        observe(value, labels) {
          const found = values.getOrInsertComputed(textOf(options, labels), start);
          found.sum += value;
          found.count++;
          const bucket = bounds.findIndex((bound) => value <= bound);
          if (bucket >= 0) found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
        },
      };
    },
    render: async () => `${[...families.values()].map((family) => rendered(family)).join("\n\n")}\n`,
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  };
}

function rendered({ options, type, values, lines, handlers }: Family<unknown>): string {
  for (const handler of handlers) handler();
  const { name, help } = options;
  const samples = [...values].flatMap(([labels, value]) => lines(labels, value));
  return [
    `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ suffix, labels, value }) => {
      const braces = labels === "" ? "" : `{${labels}}`;
      return `${name}${suffix}${braces} ${numberOf(value)}`;
    }),
  ].join("\n");
}

const plain = (labels: string, value: number): readonly Sample[] => [{ suffix: "", labels, value }];

function histogramLines(bounds: readonly number[], labels: string, { counts, sum, count }: Buckets): Sample[] {
  const more = labels === "" ? "" : `,${labels}`;
  let below = 0;
  const buckets = bounds.map((bound, i) => {
    below += counts[i] ?? 0;
    return { suffix: "_bucket", labels: `le="${bound}"${more}`, value: below };
  });
  return [
    ...buckets,
    { suffix: "_bucket", labels: `le="+Inf"${more}`, value: count },
    { suffix: "_sum", labels, value: sum },
    { suffix: "_count", labels, value: count },
  ];
}

function isBare({ labels = [] }: MetricOptions): boolean {
  return labels.length === 0;
}

/** The labels as they are printed, in the order of the metric's. @throws for a label that the metric does not have */
function textOf({ name, labels: names = [] }: MetricOptions, labels: MetricLabels = {}): string {
  let text = "";
  let found = 0;
  for (const label of names) {
    const value = labels[label];
    if (value === undefined) continue;
    found++;
    text += `${text === "" ? "" : ","}${label}="${escaped(value)}"`;
  }
  if (found !== Object.keys(labels).length)
    throw new Error(`metric ${name} has no label ${Object.keys(labels).join(", ")}`);
  return text;
}

function escaped(value: string): string {
  if (!/["\\\n]/.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function numberOf(value: number): string {
  if (Number.isNaN(value)) return "Nan";
  if (Number.isFinite(value)) return `${value}`;
  return value < 0 ? "-Inf" : "+Inf";
}
