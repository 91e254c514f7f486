import { InputError, readTextFile } from "@causeway/foundation";
import { loadCloudsYaml, renderCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { chosenCloud } from "../composition/chosen.ts";
import { SERVED_KUBERNETES, type Manifest } from "@causeway/api";
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
 * @throws CLUSTER_NAME_INVALID, VERSION_NOT_SERVED
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
  requireServed(version);
  const cloudsYaml = renderCloudsYaml(cloud);
  return clusterManifests({ ...key, version, replicas, flavor, image, cloudsYaml, cloudName: cloud.name });
}

/** As the schema of HostedControlPlane has it, for a control plane that names no runtime. */
function requireServed(version: string): void {
  const minor = /^(v\d+\.\d+)\.\d+([-+][0-9A-Za-z.+-]+)?$/.exec(version)?.[1];
  if (minor !== undefined && SERVED_KUBERNETES.includes(minor)) return;
  const newest = SERVED_KUBERNETES.at(-1);
  const why = minor === undefined ? `is not a version of Kubernetes, such as ${newest}.0` : "is not served";
  throw new InputError("VERSION_NOT_SERVED", `--kubernetes-version ${version} ${why}`, {
    hint: `Specify one of ${SERVED_KUBERNETES.map((each) => `${each}.x`).join(", ")}, with the "v".`,
  });
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
