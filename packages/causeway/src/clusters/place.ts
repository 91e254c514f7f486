import { existsSync } from "node:fs";
import { join } from "node:path";
import { createClient, type ClusterConfig, type KubernetesClient } from "@causeway/kubernetes";
import { chosenCluster } from "../composition/chosen.ts";
import { LOCAL_STATE } from "../composition/local-state.ts";

/** What the options of the management cluster gave. */
export interface ManagementPlace {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
}

/**
 * The management cluster that a command works on: the option, KUBECONFIG, the one that `causeway up` runs from this
 * folder, ~/.kube/config.
 * @throws KUBECONFIG_NOT_FOUND, KUBECONFIG_INVALID, KUBECONFIG_CONTEXT_UNKNOWN
 */
function managementCluster(place: ManagementPlace, env = process.env): ClusterConfig {
  const local = join(LOCAL_STATE, "management.kubeconfig");
  const usesLocal = place.kubeconfig === undefined && !env["KUBECONFIG"] && existsSync(local);
  return chosenCluster(usesLocal ? { ...place, kubeconfig: local } : place);
}

/** What a command works with: a client of the management cluster, and the chosen namespace or the context's. */
export interface Management {
  readonly client: KubernetesClient;
  readonly namespace: string;
}

/**
 * Runs a command's work with the chosen management cluster, and closes the client afterwards. Throws what
 * `managementCluster` throws.
 */
export async function withManagement<T>(
  place: ManagementPlace,
  work: (management: Management) => Promise<T>,
): Promise<T> {
  const config = managementCluster(place);
  const client = createClient(config);
  try {
    return await work({ client, namespace: place.namespace ?? config.namespace ?? "default" });
  } finally {
    await client.close();
  }
}
