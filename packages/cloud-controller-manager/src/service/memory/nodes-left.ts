import type { Node } from "@causeway/kubernetes";

/**
 * Which excluded Nodes have left the load balancers of which Services, as reconciles have seen it since this process
 * began.
 */
export class NodesLeft {
  /** UIDs of Nodes by the key of the Service. */
  readonly #left = new Map<string, ReadonlySet<string>>();
  readonly #handlers = new Set<() => void>();
  #services: () => readonly string[] | undefined = () => undefined;

  /** The keys of all Services that may have load balancers; undefined: they have not been read. */
  ofServices(services: () => readonly string[] | undefined): void {
    this.#services = services;
  }

  /**
   * What a reconcile has seen of a Service, which is no more than before where `left` is undefined: a Node that has
   * left returns only when it is not excluded any more.
   */
  report(service: string, excluded: readonly Node[], left: readonly Node[] | undefined): void {
    const before = this.#left.get(service) ?? new Set();
    const kept = left ?? excluded.filter(({ metadata }) => before.has(metadata.uid ?? ""));
    const now = new Set(kept.map(({ metadata }) => metadata.uid ?? ""));
    this.#left.set(service, now);
    if (now.size !== before.size || !now.isSubsetOf(before)) this.#changed();
  }

  forget(service: string): void {
    if (this.#left.delete(service)) this.#changed();
  }

  /** Whether every Service is known to have the excluded Node no more. */
  has({ metadata }: Node): boolean {
    return this.#services()?.every((service) => this.#left.get(service)?.has(metadata.uid ?? "") === true) === true;
  }

  onChange(handler: () => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  #changed(): void {
    for (const handler of this.#handlers) handler();
  }
}
