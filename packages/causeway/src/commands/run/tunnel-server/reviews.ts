import { systemClock, type Metrics } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { tokenReviewer, type Reviewer } from "@causeway/reverse-tunnel";

/** Reviews of agents' tokens, by one client for each kubeconfig. */
export interface Reviews {
  /** @throws KUBECONFIG_… */
  readonly reviewer: Reviewer;
  close(): Promise<void>;
}

/** Reviews without a client so far. */
export function createReviews(metrics: Metrics): Reviews {
  const clients = new Map<string, KubernetesClient>();
  return {
    reviewer(source) {
      const known = clients.get(source.kubeconfig);
      const client =
        known ?? createClient(loadKubeconfig({ path: source.kubeconfig }), { clock: systemClock, metrics });
      clients.set(source.kubeconfig, client);
      return tokenReviewer(client, source);
    },
    async close() {
      for (const client of clients.values()) await client.close();
    },
  };
}
