import { once } from "node:events";
import { Worker } from "node:worker_threads";

const WRITERS = 4;

/** What the thread is started with. */
export interface WriterData {
  readonly kubeconfig: string;
  /** The beginning of the names of what it creates. */
  readonly round: string;
  /** 32 bits for each client: how many writes were acknowledged. */
  readonly counts: SharedArrayBuffer;
}

/** What became of the writes. */
export interface Written {
  readonly acknowledged: readonly string[];
  readonly failures: readonly string[];
  /** Milliseconds between two acknowledged writes at most: of all clients, and of one of them. */
  readonly longest: number;
  readonly longestOfOne: number;
}

export interface Writes {
  /** The fewest that a client has had acknowledged so far. */
  fewest(): number;
  end(): Promise<Written>;
}

/** Clients in a thread of their own that create ConfigMaps, each on a connection of its own that is kept. */
export function startWrites(kubeconfig: string, round: string): Writes {
  const counts = new SharedArrayBuffer(4 * WRITERS);
  const workerData: WriterData = { kubeconfig, round, counts };
  const worker = new Worker(new URL("writer.ts", import.meta.url), { workerData });
  const result = once(worker, "message") as Promise<[Written]>;
  // Before it is awaited.
  result.catch(() => {});
  return {
    fewest: () => Math.min(...new Int32Array(counts)),
    async end() {
      worker.postMessage("end");
      return (await result)[0];
    },
  };
}
