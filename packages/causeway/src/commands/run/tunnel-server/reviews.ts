import { messageOf, readTextFile, systemClock, type Log, type Metrics } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { tokenReviewer, type Reviewer } from "@causeway/reverse-tunnel";

/** Reviews of agents' tokens, by one client for each kubeconfig. */
export interface Reviews {
  /** @throws KUBECONFIG_… */
  readonly reviewer: Reviewer;
  close(): Promise<void>;
}

/** Bytes of a kubeconfig. */
const LARGEST = 8 * 1024 * 1024;

interface Known {
  readonly text: string;
  readonly client: KubernetesClient;
  /** Reads in a row that failed since then. */
  failures: number;
}

/**
 * Reviews without a client so far. Each review reads the kubeconfig again: after a rotation of the tenant's authority
 * it has another certificate, and agents connect for as long as the server runs.
 */
export function createReviews({ metrics, log }: { readonly metrics: Metrics; readonly log: Log }): Reviews {
  const clients = new Map<string, Known>();
  const clientOf = (path: string): KubernetesClient => {
    const text = readTextFile(path, LARGEST);
    const known = clients.get(path);
    if (known?.text === text) return known.client;
    const client = createClient(loadKubeconfig({ path, text }), { clock: systemClock, metrics });
    clients.set(path, { text, client, failures: 0 });
    // What it has under way ends in an error, and the agent connects again.
    void known?.client.close();
    return client;
  };
  /**
   * The client of before where the file cannot be read, as while it is being written: that is one read. The second
   * failure in a row is logged, and then the fourth, the eighth and so on: agents decide how often there is a review.
   */
  const latest = (path: string): KubernetesClient => {
    const before = clients.get(path);
    try {
      const client = clientOf(path);
      if (before && before.failures > 1)
        log.info("the kubeconfig for reviews of agents' tokens can be read again", { file: path });
      if (before) before.failures = 0;
      return client;
    } catch (error) {
      if (before === undefined) throw error;
      before.failures += 1;
      const { failures } = before;
      if (failures > 1 && Number.isInteger(Math.log2(failures))) {
        const fields = { file: path, failures, error: messageOf(error) };
        log.warn("the kubeconfig for reviews of agents' tokens cannot be read: what it had before is used", fields);
      }
      return before.client;
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
