import type { Cluster } from "../contract/cluster.ts";
import type { User } from "../contract/user.ts";

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/**
 * Ends what is open for service accounts when they are deleted: a watch of a deleted account must not see what comes
 * later.
 */
export class AccountEnds {
  readonly #cluster: Pick<Cluster, "name" | "store" | "changes">;
  readonly #ends = new Map<string, AbortController>();

  constructor(cluster: Pick<Cluster, "name" | "store" | "changes">) {
    this.#cluster = cluster;
    cluster.changes.listen(({ type, resource, object }) => {
      if (type !== "DELETED" || resource.group !== "" || resource.plural !== "serviceaccounts") return;
      const user = `system:serviceaccount:${object.metadata.namespace ?? ""}:${object.metadata.name}`;
      this.#ends.get(user)?.abort();
      this.#ends.delete(user);
    });
  }

  /** Aborts when `closing` does, and when the account that the user is gets deleted. */
  signalFor(user: User, closing: AbortSignal): AbortSignal {
    const match = ACCOUNT.exec(user.name);
    if (!match) return closing;
    const [, namespace = "", name = ""] = match;
    const key = { cluster: this.#cluster.name, resource: "/serviceaccounts", namespace, name };
    if (!this.#cluster.store.get(key)) return closing;
    const end = this.#ends.get(user.name) ?? new AbortController();
    this.#ends.set(user.name, end);
    return AbortSignal.any([closing, end.signal]);
  }
}
