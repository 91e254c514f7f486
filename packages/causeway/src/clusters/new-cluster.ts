import { InputError, readTextFile } from "@causeway/foundation";
import { loadCloudsYaml, renderCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { chosenCloud } from "../composition/chosen.ts";
import type { Manifest } from "@causeway/api";
import { clusterManifests } from "./manifests.ts";
import { localCloudsYaml } from "../composition/local-state.ts";

/** What the options of a new cluster gave. */
export interface NewClusterOptions {
  readonly flavor: string;
  readonly image: string;
  readonly replicas: number;
  readonly kubernetesVersion: string;
}

/** Names of Kubernetes objects that are names of hosts, too. */
const NAME = /^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/;

/**
 * The manifests of a new cluster, with the credentials of its cloud in a Secret of their own.
 * @throws CLUSTER_NAME_INVALID
 */
export function newCluster(
  key: { readonly namespace: string; readonly name: string },
  cloud: CloudConfig,
  options: NewClusterOptions,
): readonly Manifest[] {
  if (!NAME.test(key.name)) {
    throw new InputError("CLUSTER_NAME_INVALID", `"${key.name}" cannot name a cluster`, {
      hint: "Begin with a lower-case letter; use letters, digits and '-', at most 52.",
    });
  }
  const { flavor, image, replicas, kubernetesVersion: version } = options;
  const cloudsYaml = renderCloudsYaml(cloud);
  return clusterManifests({ ...key, version, replicas, flavor, image, cloudsYaml, cloudName: cloud.name });
}

/**
 * The chosen cloud; without a choice the simulated one of `causeway up` in this folder, where there is one.
 * @throws CLOUD_NOT_FOUND, CLOUDS_YAML_NOT_FOUND, CLOUDS_YAML_INVALID
 */
export function cloudOf(name: string | undefined): CloudConfig {
  const local = localCloudsYaml();
  const isChosen = name !== undefined || process.env["OS_CLOUD"] || process.env["OS_AUTH_URL"];
  if (isChosen || local === undefined || process.env["OS_CLIENT_CONFIG_FILE"]) return chosenCloud({ osCloud: name });
  return loadCloudsYaml({ cloud: "simulator", text: readTextFile(local) });
}
