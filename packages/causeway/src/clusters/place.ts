import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ClusterConfig } from "@causeway/kubernetes";
import { chosenCluster } from "../composition/chosen.ts";

/** Where `causeway up` keeps its state unless it is given another folder. */
const STATE = ".causeway";

/** What the options of the management cluster gave. */
export interface ManagementPlace {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/**
 * The management cluster that a command works on: the option, KUBECONFIG, the one that `causeway up` runs from this folder, ~/.kube/config.
 * @throws KUBECONFIG_NOT_FOUND, KUBECONFIG_INVALID, KUBECONFIG_CONTEXT_UNKNOWN
 */
export function managementCluster(place: ManagementPlace, env = process.env): ClusterConfig {
  const local = join(STATE, "management.kubeconfig");
  const usesLocal = place.kubeconfig === undefined && !env["KUBECONFIG"] && existsSync(local);
  return chosenCluster(usesLocal ? { ...place, kubeconfig: local } : place);
}

/** The clouds.yaml of the simulated cloud that `causeway up` runs from this folder, where there is one. */
export function localCloudsYaml(): string | undefined {
  const local = join(STATE, "clouds.yaml");
  return existsSync(local) ? local : undefined;
}
