import type { Informer, Node, ObjectKey } from "@causeway/kubernetes";
import type { Cloud, CloudWatch, Flavor, Port, Server } from "@causeway/openstack";
import type { CloudControllerConfig } from "../config/config.ts";
import type { RateLimitedRefresh } from "../rate-limited-refresh.ts";
import { denialsNeeded, type Denials } from "./denials.ts";
import type { NotReadyTracker } from "./not-ready-tracker.ts";
import type { NodesLeft } from "../service/memory/nodes-left.ts";
import { uninitializedTaint } from "./taints.ts";
import { parseProviderId } from "./provider-id.ts";

/** What of a Node is ours to do: cloud-provider has two controllers for it, which can be run apart. */
export interface Duties {
  /** Addresses, providerID, labels, and the end of the uninitialized taint. */
  readonly initialise: boolean;
  /** The taint of stopped servers, and the end of Nodes whose server is gone. */
  readonly lifecycle: boolean;
}

/** What the plan of one Node is made from. */
export interface Observed {
  readonly node: Node;
  /** The node's server; an ambiguous name has several. */
  readonly servers: readonly Server[];
  readonly ports: readonly Port[];
  /** Fixed addresses of subports of its trunks, with their networks' names. */
  readonly trunked: readonly { readonly network: string; readonly address: string }[];
  /** The server's flavor, when Nova returns only its id. */
  readonly flavor: Flavor | undefined;
  readonly region: string;
  /** In how many reads in a row, each at a fresh and healthy list, the server was not there. */
  readonly denials: number;
  /** Its kubelet fell silent lately: its server may just have stopped or gone. */
  readonly doubtful: boolean;
  readonly config: CloudControllerConfig;
  readonly duties: Duties;
  /** Whether it has left every load balancer; undefined: Nodes do not say so here. */
  readonly hasLeft?: boolean | undefined;
}

/** The informers that a Node is gathered from, and what is remembered about it. */
export interface GatherFrom {
  readonly nodes: Informer<Node>;
  readonly cloud: Pick<Cloud, "region">;
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  readonly denials: Denials;
  readonly duties: Duties;
  readonly missed: RateLimitedRefresh;
  readonly doubts: RateLimitedRefresh;
  readonly notReadyTracker: NotReadyTracker;
  readonly nodesLeft?: Pick<NodesLeft, "has"> | undefined;
}

/** Reads caches only: a Node costs no call, whatever their number. */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { watch } = from;
  const node = from.nodes.get(key);
  if (!node) {
    from.denials.forget(key.name);
    from.notReadyTracker.forget(key.name);
    return undefined;
  }
  await Promise.all([watch.servers.start(signal), watch.ports.start(signal)]);
  const known = parseProviderId(node.spec?.providerID);
  const doubtful = known !== undefined && from.notReadyTracker.isFresh(node);
  // A server that is missing already is read again by the counter of its denials.
  if (doubtful && serversOf(watch, node).length > 0) await from.doubts.refresh([watch.servers], signal);
  const find = () => serversOf(watch, node);
  const denials = await denialsOf(from, { node, known, find }, signal);
  const servers = find();
  const server = servers[0];
  const ports = server ? await portsOf(from, { node, server }, signal) : [];
  return {
    node,
    servers,
    ports,
    trunked: await trunkedAddresses(watch, ports, signal),
    flavor: server ? await flavorOf(watch, server, signal) : undefined,
    region: from.cloud.region,
    denials,
    doubtful,
    config: from.config,
    duties: from.duties,
    hasLeft: from.nodesLeft?.has(node),
  };
}

interface ServerSearch {
  readonly node: Node;
  readonly known: ReturnType<typeof parseProviderId>;
  readonly find: () => readonly Server[];
}

async function denialsOf(from: GatherFrom, { node, known, find }: ServerSearch, signal: AbortSignal): Promise<number> {
  if (find().length > 0) return from.denials.forget(node.metadata.name);
  const count = await from.denials.deny(node, find, signal);
  const region = known?.region ?? "";
  const ours = region === "" || region === from.cloud.region;
  return known && ours && count >= denialsNeeded ? from.denials.confirm(node, known.serverId, signal) : count;
}

/** Ports may be listed rarely: refresh them for a node that waits for its addresses. */
async function portsOf(
  { watch, missed }: GatherFrom,
  { node, server }: { readonly node: Node; readonly server: Server },
  signal: AbortSignal,
): Promise<readonly Port[]> {
  const known = watch.ports.byIndex("device", server.id);
  const waits = node.spec?.taints?.some((taint) => taint.key === uninitializedTaint) === true;
  if (known.length > 0 || !waits) return known;
  await missed.refresh([watch.ports], signal);
  return watch.ports.byIndex("device", server.id);
}

/** By providerID, else by name; a server that is being deleted does not count if another one has its name. */
function serversOf(watch: CloudWatch, node: Node): readonly Server[] {
  const known = parseProviderId(node.spec?.providerID);
  if (known) {
    const server = watch.servers.get(known.serverId);
    return server ? [server] : [];
  }
  const named = watch.servers.byIndex("name", node.metadata.name);
  return named.length > 1 ? named.filter((server) => !isLeaving(server)) : named;
}

function isLeaving(server: Server): boolean {
  return server["OS-EXT-STS:task_state"] === "deleting" || ["DELETED", "SOFT_DELETED"].includes(server.status);
}

/** Networks are listed only where a server has a trunk. */
async function trunkedAddresses(
  watch: CloudWatch,
  ports: readonly Port[],
  signal: AbortSignal,
): Promise<Observed["trunked"]> {
  const below = ports.flatMap((port) => port.trunk_details?.sub_ports ?? []);
  if (below.length === 0) return [];
  await watch.networks.start(signal);
  return below
    .flatMap(({ port_id: id }) => watch.ports.get(id) ?? [])
    .flatMap((port) => {
      const network = watch.networks.get(port.network_id)?.name ?? port.network_id;
      return port.fixed_ips.map(({ ip_address: address }) => ({ network, address }));
    });
}

/** Flavors are listed only where Nova's servers do not have the names of their flavors (before microversion 2.47). */
async function flavorOf(watch: CloudWatch, server: Server, signal: AbortSignal): Promise<Flavor | undefined> {
  const { id, original_name: name } = server.flavor;
  if (id === undefined || (name !== undefined && name !== "")) return undefined;
  await watch.flavors.start(signal);
  return watch.flavors.get(id);
}
