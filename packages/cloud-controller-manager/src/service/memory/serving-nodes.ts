import { messageOf, type Clock } from "@causeway/foundation";
import { isForbidden, Pod, type KubernetesClient, type Node } from "@causeway/kubernetes";
import { serves, type ServingNodes } from "../parameters/new-members.ts";

/** As kubeadm and other installers label the Pods of kube-proxy. */
const labelSelector = "k8s-app=kube-proxy";
/** Milliseconds: what was listed serves all Services meanwhile. */
const FRESH = 1_000;
/** Milliseconds until what we may not list is tried again. */
const REFUSED = 300_000;

/**
 * Since when new Nodes have been seen to serve. The Pods of kube-proxy are listed only while such a Node waits: at rest
 * they cost neither a watch nor a list.
 */
export class ServingNodesMemory {
  readonly #client: Pick<KubernetesClient, "list">;
  readonly #clock: Clock;
  /** By the Nodes' UIDs. */
  readonly #since = new Map<string, number>();
  #listed: { readonly until: number; readonly what: Promise<readonly Pod[] | string> } | undefined;

  constructor(client: Pick<KubernetesClient, "list">, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** What is known of these Nodes. Of one that ceases to serve before it is a member the time begins again. */
  async of(nodes: readonly Node[], signal: AbortSignal): Promise<ServingNodes> {
    if (nodes.length === 0) return { servingSince: new Map() };
    const proxies = await this.#proxies(signal);
    if (typeof proxies === "string") return { unreadable: proxies };
    const now = this.#clock.now();
    const servingSince = new Map<string, number>();
    for (const node of nodes) {
      const { name, uid = name } = node.metadata;
      if (!serves(node, proxies)) {
        this.#since.delete(uid);
        continue;
      }
      const since = this.#since.get(uid) ?? now;
      this.#since.set(uid, since);
      servingSince.set(name, since);
    }
    return { servingSince };
  }

  forget({ metadata: { name, uid = name } }: Node): void {
    this.#since.delete(uid);
  }

  #proxies(signal: AbortSignal): Promise<readonly Pod[] | string> {
    const now = this.#clock.now();
    if (this.#listed && now < this.#listed.until) return this.#listed.what;
    const what = this.#list(signal);
    this.#listed = { until: now + FRESH, what };
    what.then(
      (pods) => {
        if (typeof pods === "string") this.#listed = { until: now + REFUSED, what };
      },
      () => {
        if (this.#listed?.what === what) this.#listed = undefined;
      },
    );
    return what;
  }

  /** The Pods, or why they may not be listed. */
  async #list(signal: AbortSignal): Promise<readonly Pod[] | string> {
    try {
      return (await this.#client.list(Pod, { namespace: "kube-system", labelSelector, signal })).items;
    } catch (error) {
      if (isForbidden(error)) return messageOf(error);
      throw error;
    }
  }
}
