import type { OpenStackCluster } from "@causeway/api";
import { cloudIdentityAnnotation } from "../resources/naming.ts";

/**
 * Why the credentials may not be used for this cluster: they lead to another project or region than the one its
 * resources are in. In that cloud everything would seem to be deleted.
 */
export function wrongCloud(object: Pick<OpenStackCluster, "metadata">, identity: string): string | undefined {
  const recorded = object.metadata.annotations?.[cloudIdentityAnnotation];
  if (recorded === undefined || recorded === identity) return undefined;
  return `The credentials are for region and project ${identity}, but the cluster's resources are in ${recorded}; nothing is reconciled until they match`;
}
