import type { Service } from "@causeway/kubernetes";
import { maxNameLength } from "../parameters/names.ts";

/** By which cloud-provider-openstack and we know our own. */
export const groupPrefix = "lb-sg-";

/** lb-sg-UID-NAMESPACE-NAME, cut to 255 characters. */
export function groupName({ metadata }: Service): string {
  return `${groupPrefix}${metadata.uid}-${metadata.namespace}-${metadata.name}`.slice(0, maxNameLength);
}

const names = new RegExp(`^${groupPrefix}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-`);

/** The UID of the Service in the name of its group; "": it has none. */
export function groupUid(name: string): string {
  return names.exec(name)?.[1] ?? "";
}

/** Upstream's description of a Service's security group, cut to 255 characters. */
export function groupDescription(cluster: string, { metadata }: Service): string {
  return `Security Group for ${metadata.namespace}/${metadata.name} Service LoadBalancer in cluster ${cluster}`.slice(
    0,
    maxNameLength,
  );
}
