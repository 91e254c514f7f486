import { messageOf, type Clock, type Log } from "@causeway/foundation";
import type { WebhookClient } from "../auth/webhook-client.ts";
import type { ClusterMetrics } from "../contract/cluster-metrics.ts";
import type { AuditSink } from "../contract/audit.ts";

const TRIES = 5;
const FIRST_DELAY = 1000;
const TIMEOUT = 30_000;

/** How many events go and wait together. */
export interface WebhookSinkOptions {
  /** Events in one batch. */
  readonly batchSize: number;
  /** The longest time an event waits for others, in milliseconds. */
  readonly batchWait: number;
  /** Events that may wait. */
  readonly longestQueue: number;
  /** Bytes of them. */
  readonly largestQueue: number;
}

/** What the sink runs with. */
export interface WebhookSinkContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Pick<ClusterMetrics, "access">;
  /** Milliseconds that the last batches may take together once the sink is closed. Default 1000. */
  readonly lastTimeout?: number;
}

/** What waits, its length known. */
interface Queue {
  events: string[];
  bytes: number;
}

/** The sink ends when `close` does. */
const ENDED = "the server stops recording";

/**
 * Sends events in batches, one batch at a time; what five tries cannot deliver, and what does not fit into the queue,
 * is lost. The log and apiserver_audit_error_total say how many.
 */
export function webhookSink(
  client: WebhookClient,
  { batchSize, batchWait, longestQueue, largestQueue }: WebhookSinkOptions,
  { clock, log, metrics, lastTimeout = 1000 }: WebhookSinkContext,
): AuditSink {
  const closing = new AbortController();
  /** When the last batches had their time. */
  const over = new AbortController();
  const queue: Queue = { events: [], bytes: 0 };
  let dropped = 0;
  let full: (() => void) | undefined;
  let sending: Promise<void> | undefined;

  const lose = (events: number, plugin: "webhook" | "buffered", reason: string): void => {
    metrics?.access.auditErrors.increment({ plugin }, events);
    log.error("audit events were lost", { events, reason });
  };

  const reportDropped = (): void => {
    if (dropped > 0) lose(dropped, "buffered", closing.signal.aborted ? ENDED : "the webhook is too slow");
    dropped = 0;
  };

  const deliver = async (batch: readonly string[]): Promise<void> => {
    const body = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${batch.join(",")}]}`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.post(body, { timeout: TIMEOUT, signal: over.signal });
        return;
      } catch (error) {
        if (attempt >= TRIES || closing.signal.aborted) return lose(batch.length, "webhook", messageOf(error));
        await clock.sleep(FIRST_DELAY * 2 ** (attempt - 1), closing.signal).catch(() => {});
      }
    }
  };

  const next = (): string[] => {
    const batch = queue.events.splice(0, batchSize);
    for (const event of batch) queue.bytes -= event.length;
    return batch;
  };

  const run = async (): Promise<void> => {
    while (queue.events.length > 0) {
      if (queue.events.length < batchSize && !closing.signal.aborted) await more();
      if (over.signal.aborted) lose(next().length, "webhook", ENDED);
      else await deliver(next());
      reportDropped();
    }
    sending = undefined;
  };

  /** Until a batch is full, or has waited long enough, or there is no time left. */
  const more = async (): Promise<void> => {
    const enough = new AbortController();
    const filled = new Promise<void>((resolve) => (full = resolve));
    const signal = AbortSignal.any([enough.signal, closing.signal]);
    await Promise.race([filled, clock.sleep(batchWait, signal).catch(() => {})]);
    enough.abort();
    full = undefined;
  };

  return {
    write(event) {
      const isFull = queue.events.length >= longestQueue || queue.bytes + event.length > largestQueue;
      if (isFull || closing.signal.aborted) {
        dropped += 1;
        // Nothing reports it any more where nothing is being sent.
        if (sending === undefined) reportDropped();
        return;
      }
      queue.events.push(event);
      queue.bytes += event.length;
      if (queue.events.length >= batchSize) full?.();
      sending ??= run();
    },
    async close() {
      closing.abort();
      const timer = setTimeout(() => over.abort(new Error(ENDED)), lastTimeout);
      await sending;
      clearTimeout(timer);
      reportDropped();
      client.close();
    },
  };
}
