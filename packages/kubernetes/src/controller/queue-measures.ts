import type { Clock, Metrics } from "@causeway/foundation";

/** client-go's, seconds. */
const buckets = Array.from({ length: 10 }, (_, power) => 1e-8 * 10 ** power);

/** Metrics of the keys that go through a work queue, by the key's text. */
export interface QueueMeasures {
  /** It waits to be handed out. */
  added(id: string): void;
  /** A worker has it. */
  taken(id: string): void;
  done(id: string): void;
  /** It failed, and comes back later. */
  retried(): void;
  /** The queue is closed: it is measured no more. */
  close(): void;
}

const silent: QueueMeasures = { added() {}, taken() {}, done() {}, retried() {}, close() {} };

/** The metrics of a work queue, and the name that they have it by. */
export interface MeasuredQueue {
  readonly metrics: Metrics;
  /** Label `name`. */
  readonly name: string;
}

/**
 * Measures under client-go's names: workqueue_depth, workqueue_adds_total, workqueue_queue_duration_seconds and their
 * fellows.
 */
export function queueMeasures(measured: MeasuredQueue | undefined, clock: Clock): QueueMeasures {
  if (measured === undefined) return silent;
  const { metrics, name } = measured;
  const labels = ["name"];
  const own = { name };
  const depth = metrics.gauge({ name: "workqueue_depth", help: "Keys that wait", labels });
  const adds = metrics.counter({ name: "workqueue_adds_total", help: "Keys that were added", labels });
  const retries = metrics.counter({ name: "workqueue_retries_total", help: "Keys that failed and come back", labels });
  const waited = metrics.histogram({
    name: "workqueue_queue_duration_seconds",
    help: "Time a key waited",
    labels,
    buckets,
  });
  const worked = metrics.histogram({
    name: "workqueue_work_duration_seconds",
    help: "Time the work on a key took",
    labels,
    buckets,
  });
  const unfinished = metrics.gauge({
    name: "workqueue_unfinished_work_seconds",
    help: "Time that the work under way has run, all together",
    labels,
  });
  const longest = metrics.gauge({
    name: "workqueue_longest_running_processor_seconds",
    help: "Time that the longest work under way has run",
    labels,
  });
  const waiting = new Map<string, number>();
  const working = new Map<string, number>();
  const forget = unfinished.onRender(() => {
    const ages = [...working.values()].map((since) => (clock.now() - since) / 1_000);
    unfinished.set(
      ages.reduce((sum, age) => sum + age, 0),
      own,
    );
    longest.set(Math.max(0, ...ages), own);
  });
  depth.set(0, own);
  const ended = (since: Map<string, number>, id: string): number => {
    const begun = since.get(id) ?? clock.now();
    since.delete(id);
    return (clock.now() - begun) / 1_000;
  };
  return {
    added(id) {
      if (waiting.has(id)) return;
      adds.increment(own);
      waiting.set(id, clock.now());
      depth.set(waiting.size, own);
    },
    taken(id) {
      waited.observe(ended(waiting, id), own);
      depth.set(waiting.size, own);
      working.set(id, clock.now());
    },
    done(id) {
      worked.observe(ended(working, id), own);
    },
    retried: () => retries.increment(own),
    close() {
      forget();
      depth.set(0, own);
      unfinished.set(0, own);
      longest.set(0, own);
    },
  };
}
