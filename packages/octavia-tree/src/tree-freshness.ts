import type { CloudWatch, LoadBalancer } from "@causeway/openstack";

/**
 * Load balancers, listeners and pools come from three lists read at different times. Before a settled load balancer is
 * compared with its Service, the two others must be at least as new: they are listed again when the load balancer names
 * children that they do not have (or the other way round), when they show children that are still being changed, and
 * after each change of ours.
 */
export class TreeFreshness {
  readonly #watch: CloudWatch;
  readonly #touched = new Set<string>();
  /** Parts that are PENDING on an ACTIVE load balancer by the newest lists, too; by load balancer. */
  readonly #unsettled = new Map<string, ReadonlySet<string>>();

  constructor(watch: CloudWatch) {
    this.#watch = watch;
  }

  /**
   * A change of ours was sent: what is cached of the load balancer's children is old when it is ACTIVE again. Until a
   * list says otherwise it is PENDING, which makes the lists come fast. Lists contain only the ids of members.
   */
  touch(lb: LoadBalancer, what: "tree" | "members"): void {
    if (what === "tree") this.#touched.add(lb.id);
    this.#watch.loadBalancers.observe({ ...lb, provisioning_status: "PENDING_UPDATE" });
  }

  /**
   * After a change of members that others follow: the next one shows whether this one is over, and no list is needed
   * for it.
   */
  expectMore({ id }: LoadBalancer): void {
    this.#watch.loadBalancers.putOff(id);
  }

  /**
   * When (ms since the epoch) a load balancer whose members we change one pool after the other is expected to be ACTIVE
   * again.
   */
  expectedActive({ id, provisioning_status: status }: LoadBalancer): number | undefined {
    return status === "PENDING_UPDATE" ? this.#watch.loadBalancers.putOffUntil(id) : undefined;
  }

  /** It was not. */
  notYetActive({ id }: LoadBalancer): void {
    this.#watch.loadBalancers.checkAgain(id);
  }

  async ensure(lb: LoadBalancer, signal: AbortSignal): Promise<void> {
    if (lb.provisioning_status !== "ACTIVE") return;
    const { listeners, pools } = this.#watch;
    const agree =
      same(lb.listeners, listeners.byIndex("loadbalancer", lb.id)) &&
      same(lb.pools, pools.byIndex("loadbalancer", lb.id));
    const known = this.#unsettled.get(lb.id);
    const settled = this.#pendingParts(lb).every((id) => known?.has(id) === true);
    if (agree && settled && !this.#touched.has(lb.id)) return;
    await Promise.all([listeners.refresh(signal), pools.refresh(signal)]);
    this.#touched.delete(lb.id);
    const pending = this.#pendingParts(lb);
    if (pending.length === 0) this.#unsettled.delete(lb.id);
    else this.#unsettled.set(lb.id, new Set(pending));
  }

  #pendingParts({ id }: LoadBalancer): string[] {
    const { listeners, pools } = this.#watch;
    const parts = [...listeners.byIndex("loadbalancer", id), ...pools.byIndex("loadbalancer", id)];
    return parts.filter((part) => part.provisioning_status.startsWith("PENDING_")).map((part) => part.id);
  }
}

function same(named: readonly { id: string }[], cached: readonly { id: string }[]): boolean {
  const ids = new Set(cached.map((c) => c.id));
  return named.length === ids.size && named.every((n) => ids.has(n.id));
}
