import { stringify } from "yaml";
import { cloudOf, newCluster } from "../../clusters/new-cluster.ts";
import type { GenerateClusterOptions } from "./command.ts";

/**
 * Prints the manifests of a cluster as YAML documents.
 * @throws CLUSTER_NAME_INVALID, VERSION_NOT_SERVED, CLOUD_NOT_FOUND, CLOUDS_YAML_NOT_FOUND, CLOUDS_YAML_INVALID
 */
export async function generateCluster(name: string, options: GenerateClusterOptions): Promise<void> {
  const manifests = newCluster({ namespace: options.namespace, name }, cloudOf(options.osCloud), options);
  process.stdout.write(manifests.map(({ object }) => stringify(object)).join("---\n"));
}
