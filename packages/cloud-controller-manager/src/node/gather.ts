import type { Informer, Node, ObjectKey } from "@causeway/kubernetes";
import type { Cloud, CloudWatch, Flavor, Port, Server } from "@causeway/openstack";
import type { CloudControllerConfig } from "../config/config.ts";
import type { Denials } from "./denials.ts";
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
  /** The server's flavor, when Nova tells only its id. */
  readonly flavor: Flavor | undefined;
  readonly region: string;
  /** In how many looks in a row, each at a fresh and healthy list, the server was not there. */
  readonly denials: number;
  readonly config: CloudControllerConfig;
  readonly duties: Duties;
}

export interface GatherFrom {
  readonly nodes: Informer<Node>;
  readonly cloud: Pick<Cloud, "region">;
  readonly watch: CloudWatch;
  readonly config: CloudControllerConfig;
  readonly denials: Denials;
  readonly duties: Duties;
}

/** Reads caches only: a Node costs no call, whatever their number. */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { watch } = from;
  const node = from.nodes.get(key);
  if (!node) {
    from.denials.forget(key.name);
    return undefined;
  }
  await Promise.all([watch.servers.start(signal), watch.ports.start(signal)]);
  const find = () => serversOf(watch, node);
  const denials = find().length > 0 ? from.denials.forget(key.name) : await from.denials.deny(node, find, signal);
  const servers = find();
  const server = servers[0];
  return {
    node,
    servers,
    ports: server ? watch.ports.byIndex("device", server.id) : [],
    flavor: server ? await flavorOf(watch, server, signal) : undefined,
    region: from.cloud.region,
    denials,
    config: from.config,
    duties: from.duties,
  };
}

/** By providerID, else by name; a server on its way out does not count beside another of its name. */
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

/** Flavors are listed only where Nova does not tell their names itself (before microversion 2.47). */
async function flavorOf(watch: CloudWatch, server: Server, signal: AbortSignal): Promise<Flavor | undefined> {
  const { id, original_name: name } = server.flavor;
  if (id === undefined || (name !== undefined && name !== "")) return undefined;
  await watch.flavors.start(signal);
  return watch.flavors.get(id);
}
