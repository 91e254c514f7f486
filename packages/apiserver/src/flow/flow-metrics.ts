import type { Metrics } from "@causeway/foundation";
import type { ClusterMetrics } from "../contract/cluster-metrics.ts";
import type { FlowSchema } from "./classify.ts";
import type { Level } from "./level.ts";

const FLOW = ["priority_level", "flow_schema"] as const;
const SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30] as const;

function families(metrics: Metrics) {
  const name = (rest: string): string => `apiserver_flowcontrol_${rest}`;
  const levelGauge = (rest: string, help: string) =>
    metrics.gauge({ name: name(rest), help, labels: ["priority_level"] });
  return {
    rejected: metrics.counter({
      name: name("rejected_requests_total"),
      help: "Requests refused, by reason: queue-full, concurrency-limit, time-out, cancelled.",
      labels: [...FLOW, "reason"],
    }),
    dispatched: metrics.counter({
      name: name("dispatched_requests_total"),
      help: "Requests that got seats.",
      labels: FLOW,
    }),
    inqueue: metrics.gauge({
      name: name("current_inqueue_requests"),
      help: "Requests that wait for seats.",
      labels: FLOW,
    }),
    executing: metrics.gauge({
      name: name("current_executing_requests"),
      help: "Requests that have seats.",
      labels: FLOW,
    }),
    seats: metrics.gauge({ name: name("current_executing_seats"), help: "Seats that are in use.", labels: FLOW }),
    nominal: levelGauge("nominal_limit_seats", "Seats of a level by its shares."),
    lower: levelGauge("lower_limit_seats", "Seats of a level that others cannot borrow."),
    upper: levelGauge("upper_limit_seats", "Seats that a level may have with what it borrows."),
    limit: levelGauge("current_limit_seats", "Seats that a level may have now."),
    waited: metrics.histogram({
      name: name("request_wait_duration_seconds"),
      help: "Time that requests waited in queues.",
      labels: [...FLOW, "execute"],
      buckets: SECONDS,
    }),
    executed: metrics.histogram({
      name: name("request_execution_seconds"),
      help: "Time that requests kept their seats.",
      labels: [...FLOW, "type"],
      buckets: SECONDS,
    }),
    estimated: metrics.histogram({
      name: name("work_estimated_seats"),
      help: "Seats that requests were estimated to need.",
      labels: FLOW,
      buckets: [1, 2, 4, 8, 16, 32, 64, 100],
    }),
  };
}

type Labels = Readonly<Record<"priority_level" | "flow_schema", string>>;

/** apiserver_flowcontrol_*, under kube-apiserver's names. */
export class FlowMetrics {
  readonly #metrics: ClusterMetrics;
  readonly #labels = new Map<string, Labels>();
  #made: ReturnType<typeof families> | undefined;

  constructor(metrics: ClusterMetrics) {
    this.#metrics = metrics;
  }

  estimated(level: Level, schema: FlowSchema, seats: number): void {
    this.#families.estimated.observe(seats, this.#of(level, schema));
  }

  dispatched(level: Level, schema: FlowSchema, waited: number): void {
    const labels = this.#of(level, schema);
    this.#families.dispatched.increment(labels);
    if (!level.config.exempt) this.#families.waited.observe(waited / 1000, { ...labels, execute: "true" });
  }

  executed(level: Level, schema: FlowSchema, milliseconds: number): void {
    this.#families.executed.observe(milliseconds / 1000, { ...this.#of(level, schema), type: "regular" });
  }

  rejected(level: Level, schema: FlowSchema, reason: string): void {
    this.#families.rejected.increment({ ...this.#of(level, schema), reason });
  }

  queued(level: Level, schema: FlowSchema, by: 1 | -1): void {
    this.#families.inqueue.add(by, this.#of(level, schema));
  }

  /** The state of a level; `limit` is what it may have now. */
  updateLevel(level: Level, limit: number): void {
    const { config, limits, executing } = level;
    const labels = { priority_level: config.name };
    this.#families.nominal.set(limits.nominal, labels);
    this.#families.lower.set(limits.lower, labels);
    this.#families.upper.set(limits.upper, labels);
    this.#families.limit.set(limit, labels);
    for (const [schema, { requests, seats }] of executing) {
      this.#families.executing.set(requests, { ...labels, flow_schema: schema });
      this.#families.seats.set(seats, { ...labels, flow_schema: schema });
    }
  }

  get #families(): ReturnType<typeof families> {
    return (this.#made ??= families(this.#metrics.registry));
  }

  #of({ config }: Level, { name }: FlowSchema): Labels {
    const key = `${config.name}\0${name}`;
    let labels = this.#labels.get(key);
    if (labels === undefined) {
      labels = { priority_level: config.name, flow_schema: name };
      this.#labels.set(key, labels);
    }
    return labels;
  }
}
