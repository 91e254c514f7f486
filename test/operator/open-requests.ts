/** When nothing is under way in a simulated cluster: by its requests, not by the time that a machine needs for them. */
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { KubernetesClient } from "@causeway/kubernetes";

/** Turns of the event loop without a request after which nothing follows any more from what was done. */
const QUIET = 40;
/** Turns after which a request counts as one that waits for the clock. */
const PATIENT = 4_000;

export class OpenRequests {
  #open = 0;
  #begun = 0;

  /** The client, with each of its requests counted. Watches last, and are no requests here. */
  counted(client: KubernetesClient): KubernetesClient {
    const count = async <T>(perform: () => Promise<T>): Promise<T> => {
      this.#begun++;
      this.#open++;
      try {
        return await perform();
      } finally {
        this.#open--;
      }
    };
    return {
      server: client.server,
      get: (type, key, options) => count(() => client.get(type, key, options)),
      find: (type, key, options) => count(() => client.find(type, key, options)),
      list: (type, options) => count(() => client.list(type, options)),
      watch: (type, options) => client.watch(type, options),
      create: (type, object, options) => count(() => client.create(type, object, options)),
      update: (type, object, options) => count(() => client.update(type, object, options)),
      patch: (type, key, patch, options) => count(() => client.patch(type, key, patch, options)),
      apply: (type, object, options) => count(() => client.apply(type, object, options)),
      delete: (type, key, options) => count(() => client.delete(type, key, options)),
      request: (method, path, options) => count(() => client.request(method, path, options)),
      close: () => client.close(),
    };
  }

  /** Resolves when nothing is under way, or after so many turns of the event loop. */
  async settled(most = PATIENT): Promise<void> {
    // Keys are made in the thread pool, in the order in which they were requested.
    await promisify(randomBytes)(1);
    for (let quiet = 0, seen = this.#begun, turns = 0; quiet < QUIET && turns < most; turns++) {
      await new Promise((done) => setImmediate(done));
      const isBusy = this.#open > 0 || this.#begun !== seen;
      quiet = isBusy ? 0 : quiet + 1;
      seen = this.#begun;
    }
  }
}
