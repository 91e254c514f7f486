import type { AddressTable } from "./addresses.ts";
import type { Backend, BackendMember, Frontend } from "./model.ts";
import { probeMember } from "./probe-member.ts";

/** Members that are probed at a time; those beyond are as their outcomes say. */
const MOST = 2_000;

interface Watched {
  readonly key: string;
  readonly stop: AbortController;
}

/** Probes the members of pools with a health monitor, and knows which of them are down. */
export class Probes {
  readonly #table: AddressTable;
  readonly #changed: (down: readonly string[]) => void;
  readonly #watched = new Map<string, Watched>();
  readonly #down = new Set<string>();

  constructor(table: AddressTable, changed: (down: readonly string[]) => void) {
    this.#table = table;
    this.#changed = changed;
  }

  /** Takes the members of these proxies, in place of those before. */
  follow(frontends: Iterable<Frontend>): void {
    const wanted = new Map<string, { readonly pool: Backend; readonly member: BackendMember }>();
    for (const { defaultPool, policies } of frontends)
      for (const pool of [defaultPool, ...policies.map((policy) => policy.pool)])
        for (const member of pool?.monitor ? pool.members : [])
          if (pool && wanted.size < MOST) wanted.set(member.id, { pool, member });
    for (const [id, { stop }] of this.#watched) {
      if (wanted.has(id)) continue;
      stop.abort();
      this.#watched.delete(id);
      this.#set(id, false);
    }
    for (const [id, { pool, member }] of wanted) this.#watch(id, pool, member);
  }

  #watch(id: string, pool: Backend, { probed }: BackendMember): void {
    const key = JSON.stringify([pool.monitor, [...(pool.monitor?.codes ?? [])], probed, pool.tls, pool.proxyProtocol]);
    const before = this.#watched.get(id);
    if (before?.key === key) return;
    before?.stop.abort();
    const stop = new AbortController();
    this.#watched.set(id, { key, stop });
    void this.#probe(id, pool, { ...probed, signal: stop.signal });
  }

  async #probe(
    id: string,
    { monitor, tls, proxyProtocol }: Backend,
    { address, port, signal }: { address: string; port: number; signal: AbortSignal },
  ): Promise<void> {
    if (!monitor) return;
    let same = 0;
    while (!signal.aborted) {
      // A member that this machine does not have is as its outcome says.
      const place = this.#table.member(address, port);
      const healthy = !place || (await probeMember({ monitor, place, tls: tls !== undefined, proxyProtocol }, signal));
      if (signal.aborted) return;
      same = healthy === this.#down.has(id) ? same + 1 : 0;
      if (same >= (healthy ? monitor.rise : monitor.fall)) {
        this.#set(id, !healthy);
        same = 0;
      }
      await pause(monitor.delay, signal);
    }
  }

  #set(id: string, down: boolean): void {
    if (down === this.#down.has(id)) return;
    if (down) this.#down.add(id);
    else this.#down.delete(id);
    this.#changed([...this.#down]);
  }

  close(): void {
    for (const { stop } of this.#watched.values()) stop.abort();
    this.#watched.clear();
  }
}

/** Packets take real time, whatever the cloud's clock says. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    timer.unref();
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
}
