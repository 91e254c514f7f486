import type { Clock } from "@causeway/foundation";

/** Milliseconds that the lists of a drain wait for a workload cluster: a worker waits with them. */
const LIST_TIMEOUT = 10_000;

/** Lists of a workload cluster, which may hang. Rejects when they take longer than 10 s. */
export async function limited<T>(
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const late = new AbortController();
  clock.sleep(LIST_TIMEOUT, done.signal).then(
    () =>
      late.abort(new Error("The API server of the workload cluster has not listed what is on the Node within 10 s")),
    () => {},
  );
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    signal.throwIfAborted();
    throw late.signal.aborted ? late.signal.reason : error;
  } finally {
    done.abort();
  }
}
