import { readFileSync } from "node:fs";
import { systemClock, type Metrics } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { tokenReviewer, type Reviewer } from "@causeway/reverse-tunnel";

/** Reviews of agents' tokens, by one client for each kubeconfig. */
export interface Reviews {
  /** @throws KUBECONFIG_… */
  readonly reviewer: Reviewer;
  close(): Promise<void>;
}

interface Known {
  readonly text: string;
  readonly client: KubernetesClient;
}

/**
 * Reviews without a client so far. Each review reads the kubeconfig again: after a rotation of the tenant's authority
 * it has another certificate, and agents connect for as long as the server runs.
 */
export function createReviews(metrics: Metrics): Reviews {
  const clients = new Map<string, Known>();
  const clientOf = (path: string): KubernetesClient => {
    const text = readFileSync(path, "utf8");
    const known = clients.get(path);
    if (known?.text === text) return known.client;
    const client = createClient(loadKubeconfig({ path }), { clock: systemClock, metrics });
    clients.set(path, { text, client });
    // What it has under way ends in an error, and the agent connects again.
    void known?.client.close();
    return client;
  };
  /** The client of before where the file cannot be read, as while it is being written. */
  const latest = (path: string): KubernetesClient => {
    try {
      return clientOf(path);
    } catch (error) {
      const known = clients.get(path);
      if (known) return known.client;
      throw error;
    }
  };
  return {
    reviewer(source) {
      const path = source.kubeconfig;
      if (!clients.has(path)) loadKubeconfig({ path });
      return tokenReviewer({ request: (...call) => latest(path).request(...call) }, source);
    },
    async close() {
      for (const { client } of clients.values()) await client.close();
    },
  };
}
