import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";

/**
 * What happens to one write: it is performed, its answer is lost, it never arrives, or the process ends before or after
 * it.
 */
export type Fate = "performed" | "answer-lost" | "request-lost" | "killed-before" | "killed-after";

/**
 * What happens to one event of a watch: it arrives, the connection ends before it, or the connection remains open and
 * is silent from then on.
 */
export type WatchFate = "delivered" | "watch-lost" | "watch-silent";

export interface Faults {
  next(): Fate;
  /** Default: every event arrives. */
  nextEvent?(): WatchFate;
  kill(): void;
}

/**
 * The client with these faults in its writes. `kill` is called once, when every write that was under way has arrived:
 * what a process sent before its end is there before the next one starts. Nothing is written after it.
 */
export function faulty(client: KubernetesClient, given: Faults): KubernetesClient {
  const underWay = new Set<Promise<unknown>>();
  let isDead = false;
  const faults: Faults = {
    ...given,
    kill() {
      if (isDead) return;
      isDead = true;
      void Promise.allSettled(underWay).then(() => given.kill());
    },
  };
  const write = async <T>(perform: () => Promise<T>): Promise<T> => {
    const fate = isDead ? "request-lost" : faults.next();
    if (fate === "request-lost") throw lost();
    if (fate === "killed-before") return ended(faults);
    const sent = perform();
    underWay.add(sent);
    const answer = await sent.finally(() => underWay.delete(sent));
    if (fate === "answer-lost") throw lost();
    if (fate === "killed-after") return ended(faults);
    return answer;
  };
  return {
    server: client.server,
    get: (type, key, options) => client.get(type, key, options),
    find: (type, key, options) => client.find(type, key, options),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => losing(client.watch(type, options), faults, options?.signal),
    create: (type, object, options) => write(() => client.create(type, object, options)),
    update: (type, object, options) => write(() => client.update(type, object, options)),
    patch: (type, key, patch, options) => write(() => client.patch(type, key, patch, options)),
    apply: (type, object, options) => write(() => client.apply(type, object, options)),
    delete: (type, key, options) => write(() => client.delete(type, key, options)),
    request: (method, path, options) => write(() => client.request(method, path, options)),
    close: () => client.close(),
  };
}

async function* losing<T>(events: AsyncIterable<T>, faults: Faults, signal?: AbortSignal): AsyncIterable<T> {
  for await (const event of events) {
    const fate = faults.nextEvent?.() ?? "delivered";
    if (fate === "watch-silent") await ending(signal);
    if (fate !== "delivered") throw lost();
    yield event;
  }
}

/** Waits until the reader gives the watch up. */
function ending(signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal?.aborted) resolve();
  else signal?.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

function ended(faults: Faults): never {
  faults.kill();
  throw lost();
}

function lost(): CausewayError {
  return new CausewayError("KUBERNETES_UNREACHABLE", "the connection was lost");
}
