import type { Service } from "@causeway/kubernetes";
import { maxNameLength } from "../parameters/names.ts";

/** By which cloud-provider-openstack and we know our own. */
export const groupPrefix = "lb-sg-";

/** lb-sg-UID-NAMESPACE-NAME, cut to 255 characters. */
export function groupName({ metadata }: Service): string {
  return `${groupPrefix}${metadata.uid}-${metadata.namespace}-${metadata.name}`.slice(0, maxNameLength);
}

/** Upstream's description of a Service's security group, cut to 255 characters. */
export function groupDescription(cluster: string, { metadata }: Service): string {
  return `Security Group for ${metadata.namespace}/${metadata.name} Service LoadBalancer in cluster ${cluster}`.slice(
    0,
    maxNameLength,
  );
}
