import type { CallStats } from "../types/cloud.ts";

/** Counts what was sent, by "METHOD service /route/{id}". Token requests are no writes. */
export class CallCounter {
  readonly #byRoute = new Map<string, number>();
  #total = 0;
  #writes = 0;

  count(method: string, service: string, route: string): void {
    const key = `${method} ${service} ${route}`;
    this.#byRoute.set(key, (this.#byRoute.get(key) ?? 0) + 1);
    this.#total++;
    if (method !== "GET" && method !== "HEAD" && service !== "identity") this.#writes++;
  }

  stats(): CallStats {
    return { total: this.#total, writes: this.#writes, byRoute: Object.fromEntries(this.#byRoute) };
  }
}
