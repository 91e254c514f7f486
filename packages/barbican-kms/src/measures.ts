import type { Clock, Metrics } from "@causeway/foundation";
import type { KmsService } from "@causeway/kms";
import type { ReadOutcome } from "./keys/plan-reading.ts";

/** What the plugin counts. */
export interface Measures {
  /** A call of the API server, after it. */
  call(method: string, isDone: boolean): void;
  upstreamRead(): void;
  keyRead(outcome: ReadOutcome): void;
  /** The same service, with the time of its calls and its health measured. */
  service(service: KmsService, clock: Clock): KmsService;
}

const PREFIX = "causeway_barbican_kms";
const BUCKETS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 3, 10];

/** Registers the metrics causeway_barbican_kms_…. */
export function createMeasures(metrics: Metrics): Measures {
  const calls = metrics.counter({
    name: `${PREFIX}_calls_total`,
    help: "Calls of the API server, by method and outcome.",
    labels: ["method", "outcome"],
  });
  const seconds = metrics.histogram({
    name: `${PREFIX}_call_duration_seconds`,
    help: "Seconds that calls of the API server took, by method.",
    labels: ["method"],
    buckets: BUCKETS,
  });
  const keyReads = metrics.counter({
    name: `${PREFIX}_key_reads_total`,
    help: "Readings of keys from Barbican, by outcome: ok, failed, refused (no key), changed (another key than before).",
    labels: ["outcome"],
  });
  const upstream = metrics.counter({
    name: `${PREFIX}_upstream_data_total`,
    help: "Data of the upstream plugin that was decrypted; when it does not change, --read-upstream-data can go.",
  });
  const healthy = metrics.gauge({
    name: `${PREFIX}_healthy`,
    help: "1: the last Status was ok; 0: it was not, and there the reason is.",
  });
  return {
    call: (method, isDone) => calls.increment({ method, outcome: isDone ? "ok" : "failed" }),
    upstreamRead: () => upstream.increment(),
    keyRead: (outcome) => keyReads.increment({ outcome }),
    service(service, clock) {
      const timed = async <T>(method: string, work: Promise<T>): Promise<T> => {
        const before = clock.now();
        try {
          return await work;
        } finally {
          seconds.observe((clock.now() - before) / 1_000, { method });
        }
      };
      return {
        async status(signal) {
          const status = await timed("Status", service.status(signal));
          healthy.set(status.healthz === "ok" ? 1 : 0);
          return status;
        },
        encrypt: (...call) => timed("Encrypt", service.encrypt(...call)),
        decrypt: (...call) => timed("Decrypt", service.decrypt(...call)),
      };
    },
  };
}
