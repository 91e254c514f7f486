import { parseCidr, type Cidr } from "@causeway/foundation";
import type { Informer, Node } from "@causeway/kubernetes";
import type { Cloud, CloudWatch, Port, Router } from "@causeway/openstack";
import type { Refusal, Refusals } from "./refusals.ts";

/** What the plan of all routes of a cluster is made from. */
export interface Observed {
  readonly nodes: readonly Node[];
  /** Undefined: there is no such router, or none that this project sees. */
  readonly router: Router | undefined;
  /** False: Neutron has no extra routes. */
  readonly routable: boolean;
  /** What the router reaches directly. */
  readonly networks: readonly ReachedNetwork[];
  /** Ports by fixed address, of the router's networks only. */
  readonly portsAt: (address: string) => readonly Port[];
  /** Routes inside these are ours. */
  readonly clusterCidrs: readonly Cidr[];
  /** False: Neutron has no allowed address pairs, and lets everything through. */
  readonly addressPairs: boolean;
  /** By what was refused: a port's id, or "DESTINATION via NEXTHOP". */
  readonly refusals: ReadonlyMap<string, Refusal>;
}

/** A subnet that the router has an interface on. */
export interface ReachedNetwork {
  readonly networkId: string;
  readonly cidr: Cidr;
}

/** The informers that routes are gathered from. */
export interface GatherFrom {
  readonly nodes: Informer<Node>;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly routerId: string;
  readonly clusterCidrs: readonly Cidr[];
  readonly refusals: Refusals;
}

/** Reads caches only; a router of another project, which no list of ours has, is read by its id. */
export async function gather(from: GatherFrom, signal: AbortSignal): Promise<Observed> {
  const { watch, cloud, routerId } = from;
  await Promise.all([watch.routers, watch.ports, watch.subnets].map((informer) => informer.start(signal)));
  const router = watch.routers.get(routerId) ?? (await cloud.network.routers.find(routerId, { signal }));
  const networks = networksOf(watch, routerId);
  const extensions = await cloud.network.extensions({ signal });
  const reached = new Set(networks.map((network) => network.networkId));
  return {
    nodes: from.nodes.list(),
    router,
    routable: extensions.has("extraroute") || extensions.has("extraroute-atomic"),
    networks,
    portsAt: (address) => watch.ports.byIndex("address", address).filter((port) => reached.has(port.network_id)),
    clusterCidrs: from.clusterCidrs,
    addressPairs: extensions.has("allowed-address-pairs"),
    refusals: from.refusals.standing(),
  };
}

function networksOf(watch: CloudWatch, routerId: string): readonly ReachedNetwork[] {
  return watch.ports.byIndex("device", routerId).flatMap((port) =>
    port.fixed_ips.flatMap((ip) => {
      const cidr = parseCidr(watch.subnets.get(ip.subnet_id)?.cidr ?? "");
      return cidr ? [{ networkId: port.network_id, cidr }] : [];
    }),
  );
}
