import { messageOf, type Clock, type Log } from "@causeway/foundation";
import { createWebhookClient } from "../auth/webhook-client.ts";
import type { AuditSink, AuditWebhookOptions } from "../contract/audit.ts";

/** Events that may wait; as kube-apiserver's --audit-webhook-batch-buffer-size. */
const LONGEST_QUEUE = 10_000;
const TRIES = 5;
const FIRST_DELAY = 1000;
const TIMEOUT = 30_000;

/** What the sink runs with. */
export interface WebhookSinkContext {
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds that the last batches may take once the sink is closed. Default 1000. */
  readonly lastTimeout?: number;
}

/** Sends events in batches; what five tries cannot deliver is lost, and the log says how many. */
export function webhookSink(
  options: AuditWebhookOptions,
  { clock, log, lastTimeout = 1000 }: WebhookSinkContext,
): AuditSink {
  const { kubeconfigFile, batchSize = 400, batchWait = 30_000 } = options;
  const client = createWebhookClient(kubeconfigFile);
  const closing = new AbortController();
  let queue: string[] = [];
  let lost = 0;
  let full: (() => void) | undefined;
  let sending: Promise<void> | undefined;

  const lose = (count: number, reason: string): void => {
    log.error("audit events were lost", { events: count, reason });
  };

  const deliver = async (batch: readonly string[]): Promise<void> => {
    const body = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${batch.join(",")}]}`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.post(body, { timeout: closing.signal.aborted ? lastTimeout : TIMEOUT });
        return;
      } catch (error) {
        if (attempt >= TRIES || closing.signal.aborted) return lose(batch.length, messageOf(error));
        await clock.sleep(FIRST_DELAY * 2 ** (attempt - 1), closing.signal).catch(() => {});
      }
    }
  };

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      if (queue.length < batchSize && !closing.signal.aborted) await more();
      const batch = queue.slice(0, batchSize);
      queue = queue.slice(batchSize);
      await deliver(batch);
      if (lost > 0) lose(lost, "the webhook is too slow");
      lost = 0;
    }
    sending = undefined;
  };

  /** Until a batch is full, or has waited long enough, or there is no time left. */
  const more = async (): Promise<void> => {
    const over = new AbortController();
    const filled = new Promise<void>((resolve) => (full = resolve));
    const signal = AbortSignal.any([over.signal, closing.signal]);
    await Promise.race([filled, clock.sleep(batchWait, signal).catch(() => {})]);
    over.abort();
    full = undefined;
  };

  return {
    write(event) {
      if (queue.length >= LONGEST_QUEUE) {
        lost += 1;
        return;
      }
      queue.push(event);
      if (queue.length >= batchSize) full?.();
      sending ??= run();
    },
    async close() {
      closing.abort();
      await sending;
      client.close();
    },
  };
}
