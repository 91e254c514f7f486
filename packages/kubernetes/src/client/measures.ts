import type { Clock, Metrics } from "@causeway/foundation";

/** client-go's, seconds and bytes. */
const seconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const bytes = [64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

interface Sent {
  readonly method: string;
  readonly body?: string;
}

/**
 * Where requests to an API server are measured, under client-go's names (rest_client_requests_total and its fellows).
 */
export interface RequestMeasures {
  /** Begins a measurement; call the result with the response's status, or "<error>" when there was no response. */
  begin(request: Sent): (code: number | "<error>") => void;
  /** The request is sent again, after an answer of that status or none. */
  retried(request: Sent, code: number | "<error>"): void;
}

/** Creates the metrics with client-go's buckets; without `metrics` nothing is measured. */
export function requestMeasures(
  metrics: Metrics | undefined,
  { clock, host }: { readonly clock: Clock; readonly host: string },
): RequestMeasures {
  if (metrics === undefined) return { begin: () => () => {}, retried: () => {} };
  const total = metrics.counter({
    name: "rest_client_requests_total",
    help: "Requests to the API server",
    labels: ["code", "method", "host"],
  });
  const retries = metrics.counter({
    name: "rest_client_request_retries_total",
    help: "Requests to the API server that were sent again",
    labels: ["code", "verb", "host"],
  });
  const labels = ["verb", "host"];
  const duration = metrics.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Time until the API server responded",
    labels,
    buckets: seconds,
  });
  const size = metrics.histogram({
    name: "rest_client_request_size_bytes",
    help: "Size of what was sent to the API server",
    labels,
    buckets: bytes,
  });
  return {
    begin({ method: verb, body }) {
      const begun = clock.now();
      if (body !== undefined) size.observe(Buffer.byteLength(body), { verb, host });
      return (code) => {
        total.increment({ code: String(code), method: verb, host });
        duration.observe((clock.now() - begun) / 1_000, { verb, host });
      };
    },
    retried({ method: verb }, code) {
      retries.increment({ code: String(code), verb, host });
    },
  };
}
