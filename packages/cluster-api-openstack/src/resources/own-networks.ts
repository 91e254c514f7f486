import type { Network } from "@causeway/openstack";
import { ofName, type Listed } from "./of-name.ts";
import { networkOwner } from "./naming.ts";
import { isOwned, type Mark } from "./ownership.ts";

/**
 * The networks of the cluster `crn`. Ours have the cluster's description, with or without the object that created them;
 * upstream's provider (v0.14) gives its networks none, and its subnets the description. So a network of the cluster's
 * name without a description is the cluster's where the status has recorded it, or where a subnet on it has name and
 * description of the cluster's.
 */
export function ownNetworks(
  cloud: Listed<"networks" | "subnets">,
  mark: Mark & { readonly crn: string },
): readonly Network[] {
  const subnetsOfName = ofName(cloud, "subnets", mark.name);
  const proven = new Set(subnetsOfName.filter((subnet) => isOwned(subnet, mark)).map((subnet) => subnet.network_id));
  const isProven = ({ id }: Network): boolean => id === mark.recordedId || proven.has(id);
  return ofName(cloud, "networks", mark.name).filter(
    (network) =>
      isOwned(network, mark) ||
      (networkOwner(mark.crn, network.description) !== undefined &&
        isOwned({ ...network, description: mark.description }, mark)) ||
      ((network.description ?? "") === "" &&
        isOwned({ ...network, description: mark.description }, mark) &&
        isProven(network)),
  );
}
