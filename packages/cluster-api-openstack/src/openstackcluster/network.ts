import type { OpenStackClusterSpec } from "@causeway/api";
import type { Network, Router, Subnet, SubnetCreate } from "@causeway/openstack";
import { parseCidr, type Cidr } from "../resources/cidr.ts";
import { description, networkDescription, networkName } from "../resources/naming.ts";
import { ofName } from "../resources/of-name.ts";
import { ownNetworks } from "../resources/own-networks.ts";
import { chosen, findOwned, tagsToSet } from "../resources/ownership.ts";
import { resolveParameter, resolveSubnet } from "../resources/parameters.ts";
import { ownerOf } from "./possession.ts";
import { found, missing, type ClusterContext, type Part } from "./model.ts";
import type { ClusterStep } from "./steps.ts";

/** An entry of spec.managedSubnets: with one, the controller creates network, subnet and router. */
export type ManagedSubnet = NonNullable<OpenStackClusterSpec["managedSubnets"]>[number];

/** The network part of a plan. `subnets` is in order: the primary one first. */
export interface NetworkPart extends Part {
  readonly network?: Network;
  readonly subnets: readonly Subnet[];
}

/** The cluster's network and subnets: made for it, or found. */
export function planNetwork(context: ClusterContext): NetworkPart {
  const managed = context.object.spec.managedSubnets?.[0];
  return managed ? planManaged(context, managed) : planGiven(context);
}

function planManaged(context: ClusterContext, wanted: ManagedSubnet): NetworkPart {
  const invalid = problemOf(wanted);
  if (invalid !== undefined) return broken("InvalidSubnet", invalid);
  const clash = clashOf(context, wanted);
  if (clash !== undefined) return broken("OverlappingCIDR", clash);
  const { cloud, crn, tags, object } = context;
  const mark = { name: networkName(crn), description: description(crn), projectId: cloud.projectId };
  const recordedId = object.status?.network?.id;
  const own = ownNetworks(cloud, { ...mark, crn, recordedId });
  const recorded = own.find((network) => network.id === recordedId);
  const networks = chosen(recorded ? [recorded] : own);
  if (networks.kind === "several") return broken("DuplicateNetwork", duplicates("networks", mark.name, networks.ids));
  if (networks.kind === "none") return missingNetwork(context, recordedId);
  const network = networks.resource;
  const steps = tagSteps("networks", network, tags);
  const siblings = ofName(cloud, "subnets", mark.name).filter((s) => s.network_id === network.id);
  const subnets = findOwned(siblings, { ...mark, recordedId: object.status?.network?.subnets?.[0]?.id });
  if (subnets.kind === "several") return broken("DuplicateSubnet", duplicates("subnets", mark.name, subnets.ids));
  if (subnets.kind === "none") {
    const create: ClusterStep = {
      for: "NetworkReady",
      type: "create-subnet",
      body: subnetBody(context, network, wanted),
    };
    return {
      finding: missing("NetworkReady", "CreatingSubnet", `Creating subnet ${wanted.cidr}`),
      steps: [...steps, create],
      network,
      subnets: [],
    };
  }
  const subnet = subnets.resource;
  return {
    finding: found("NetworkReady", "NetworkReady"),
    steps: [...steps, ...tagSteps("subnets", subnet, tags), ...dnsSteps(subnet, wanted)],
    network,
    subnets: [subnet],
  };
}

/** Addresses of Nodes, Services and Pods must not overlap. A cluster that already has its network is not checked. */
function clashOf({ object, reserved }: ClusterContext, wanted: ManagedSubnet): string | undefined {
  if (object.status?.network !== undefined) return undefined;
  const clash = reserved.find(({ cidr }) => parseCidr(wanted.cidr)?.overlaps(cidr));
  return (
    clash &&
    `The managed subnet ${wanted.cidr} overlaps the Cluster's ${clash.use} range ${clash.cidr}; change one of them`
  );
}

function missingNetwork(context: ClusterContext, recordedId: string | undefined): NetworkPart {
  const { object, crn } = context;
  const options = object.spec.managedNetwork;
  const owner = ownerOf(context);
  const name = networkName(crn);
  const lost = recordedId !== undefined && object.status?.initialization?.provisioned === true;
  if (lost) {
    const message = `Network ${recordedId} was deleted outside the cluster; its machines cannot be moved to a new one`;
    return broken("NetworkDeleted", message);
  }
  return {
    finding: missing("NetworkReady", "CreatingNetwork", `Creating network ${name}`),
    steps: [
      {
        for: "NetworkReady",
        type: "create-network",
        body: {
          name,
          description: owner === undefined ? description(crn) : networkDescription(crn, owner),
          ...(options?.mtu === undefined ? {} : { mtu: options.mtu }),
          ...(options?.enablePortSecurity === undefined ? {} : { port_security_enabled: options.enablePortSecurity }),
        },
      },
    ],
    subnets: [],
  };
}

function planGiven(context: ClusterContext): NetworkPart {
  const { object, cloud } = context;
  const given = object.spec.subnets ?? [];
  const named = object.spec.network;
  if (!named && given.length === 0) {
    return broken(
      "NetworkMissing",
      "Set spec.managedSubnets to create a network, or spec.network to use an existing one",
    );
  }
  const resolved = named && resolveParameter(named, cloud.networks, "spec.network");
  if (resolved && !resolved.ok) return broken("NetworkNotFound", resolved.problem);
  const candidates = cloud.subnets.filter((s) => !resolved || s.network_id === resolved.resource.id);
  const subnets: Subnet[] = [];
  for (const [i, parameter] of given.entries()) {
    const subnet = resolveSubnet(parameter, candidates, `spec.subnets[${i}]`);
    if (!subnet.ok) return broken("SubnetNotFound", subnet.problem);
    subnets.push(subnet.resource);
  }
  const taken = given.length > 0 ? subnets : candidates;
  const network = resolved?.resource ?? cloud.networks.find((n) => n.id === taken[0]?.network_id);
  const problem = network ? familyProblem(taken, network) : `The network of spec.subnets[0] is not visible`;
  if (!network || problem !== undefined) return broken("SubnetsAmbiguous", problem ?? "");
  return { finding: found("NetworkReady", "NetworkReady"), steps: [], network, subnets: taken };
}

function familyProblem(subnets: readonly Subnet[], network: Network): string | undefined {
  if (subnets.length === 0) return `Network ${network.name} has no subnet`;
  if (subnets.some((s) => s.network_id !== network.id)) return "spec.subnets are on different networks";
  const families = new Set(subnets.map((s) => s.ip_version));
  if (families.size === subnets.length) return undefined;
  const listed = subnets.map((s) => `${s.name} ${s.cidr}`).join(", ");
  return `Network ${network.name} has several subnets of one IP version (${listed}); name the ones to use in spec.subnets`;
}

/** What is wrong with a managed subnet, in words for its author. */
function problemOf(wanted: ManagedSubnet): string | undefined {
  const cidr = parseCidr(wanted.cidr);
  if (!cidr) {
    return `spec.managedSubnets[0].cidr ${JSON.stringify(wanted.cidr)} is not a network in CIDR form, such as 10.6.0.0/24`;
  }
  for (const pool of wanted.allocationPools ?? []) {
    if (!cidr.contains(pool.start) || !cidr.contains(pool.end)) {
      return `spec.managedSubnets[0].allocationPools: ${pool.start} to ${pool.end} is not inside ${wanted.cidr}`;
    }
  }
  return undefined;
}

function subnetBody(context: ClusterContext, network: Network, wanted: ManagedSubnet): SubnetCreate {
  const cidr = parseCidr(wanted.cidr) as Cidr;
  return {
    name: networkName(context.crn),
    description: description(context.crn),
    network_id: network.id,
    ip_version: cidr.version,
    cidr: cidr.text,
    ...(wanted.dnsNameservers?.length ? { dns_nameservers: wanted.dnsNameservers } : {}),
    ...(wanted.allocationPools?.length ? { allocation_pools: wanted.allocationPools } : {}),
  };
}

function dnsSteps(subnet: Subnet, wanted: ManagedSubnet): ClusterStep[] {
  const servers = wanted.dnsNameservers;
  if (servers === undefined || servers.join() === subnet.dns_nameservers.join()) return [];
  return [{ for: "NetworkReady", type: "update-subnet", id: subnet.id, dnsNameservers: [...servers] }];
}

/** A step that adds the missing tags to a resource, or none. A failure is reported by the condition of that kind. */
export function tagSteps(
  kind: "networks" | "subnets" | "routers" | "security-groups" | "floatingips",
  resource: Pick<Router, "id" | "tags">,
  wanted: readonly string[],
): ClusterStep[] {
  const tags = tagsToSet(resource.tags, wanted);
  if (!tags) return [];
  const type = { networks: "NetworkReady", subnets: "NetworkReady", routers: "RouterReady" } as const;
  const about =
    kind === "security-groups" ? "SecurityGroupsReady" : kind === "floatingips" ? "APIEndpointReady" : type[kind];
  return [{ for: about, type: "set-tags", kind, id: resource.id, tags }];
}

/** The message of a Duplicate… condition: what there is several times, and which of them to delete. */
export function duplicates(what: string, name: string, ids: readonly string[]): string {
  return `There are ${ids.length} ${what} of ours named ${name}: ${ids.join(", ")}. Delete the ones that are not in use`;
}

function broken(reason: string, message: string): NetworkPart {
  return { finding: missing("NetworkReady", reason, message), steps: [], subnets: [] };
}
