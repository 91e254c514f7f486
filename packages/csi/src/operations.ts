import { CausewayError, unlessAborted } from "@causeway/foundation";

interface Operation {
  readonly request: string;
  readonly result: Promise<unknown>;
  readonly abort: AbortController;
  callers: number;
}

/** Which operation a call is part of. */
export interface OperationCall {
  readonly key: string;
  /** Two calls with the same text are the same request. */
  readonly request: string;
  readonly signal: AbortSignal;
}

/**
 * One operation at a time for each key (a volume, a name). A second call with the same request waits for the first
 * one's result, as a container orchestrator repeats calls whose response it did not receive; another request for the
 * key fails with ABORTED.
 */
export class Operations {
  readonly #running = new Map<string, Operation>();

  /** How many keys are busy. */
  get size(): number {
    return this.#running.size;
  }

  /**
   * `work` receives a signal that fires when every caller has left. The key remains busy until `work` has ended.
   *
   * @example
   * operations.run({ key: volumeId, request: "DeleteVolume", signal }, (signal) => remove(volumeId, signal));
   */
  async run<T>(call: OperationCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    call.signal.throwIfAborted();
    const operation = this.#running.get(call.key) ?? this.#start(call, work);
    if (operation.request !== call.request || operation.abort.signal.aborted) {
      throw new CausewayError("CSI_ABORTED", `Another operation for ${call.key} is in progress.`, {
        hint: "Retry when it has ended.",
      });
    }
    operation.callers += 1;
    try {
      // Every caller of one key and request has the same type of result.
      return (await unlessAborted(operation.result, call.signal)) as T;
    } finally {
      operation.callers -= 1;
      if (operation.callers === 0) operation.abort.abort(call.signal.reason);
    }
  }

  #start<T>({ key, request }: OperationCall, work: (signal: AbortSignal) => Promise<T>): Operation {
    const abort = new AbortController();
    const begun = Promise.withResolvers<void>();
    const result = begun.promise.then(() => work(abort.signal)).finally(() => this.#running.delete(key));
    // When every caller has left, no caller receives the error.
    result.catch(() => {});
    const operation = { request, result, abort, callers: 0 };
    this.#running.set(key, operation);
    begun.resolve();
    return operation;
  }
}
