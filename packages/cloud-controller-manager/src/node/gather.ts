import { Node, type Informer, type ObjectKey } from "@causeway/kubernetes";
import type { CloudWatch, Flavor, Port, Server } from "@causeway/openstack";
import type { CloudControllerConfig } from "../config/config.ts";
import { parseProviderId } from "./provider-id.ts";

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
}

export interface GatherFrom {
  readonly nodes: Informer<Node>;
  readonly watch: CloudWatch;
  readonly region: string;
  readonly config: CloudControllerConfig;
  readonly denials: Denials;
}

/** Reads caches only: a Node costs no call, whatever their number. */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const node = from.nodes.get(key);
  if (!node) {
    from.denials.forget(key.name);
    return undefined;
  }
  await Promise.all([
    from.watch.servers.start(signal),
    from.watch.ports.start(signal),
    from.watch.flavors.start(signal),
  ]);
  const servers = serversOf(from.watch, node);
  const server = servers[0];
  const denials =
    server || parseProviderId(node.spec?.providerID) === undefined
      ? from.denials.forget(key.name)
      : await from.denials.deny(node, signal);
  return {
    node,
    servers,
    ports: server ? from.watch.ports.byIndex("device", server.id) : [],
    flavor: server?.flavor.id === undefined ? undefined : from.watch.flavors.get(server.flavor.id),
    region: from.region,
    denials,
    config: from.config,
  };
}

function serversOf(watch: CloudWatch, node: Node): readonly Server[] {
  const known = parseProviderId(node.spec?.providerID);
  if (!known) return watch.servers.byIndex("name", node.metadata.name);
  const server = watch.servers.get(known.serverId);
  return server ? [server] : [];
}

/**
 * Counts in how many fresh lists a node's server was missing. A list that fails counts nothing: a cloud that is away
 * denies nothing.
 */
export class Denials {
  readonly #counts = new Map<string, { uid: string | undefined; count: number }>();
  readonly #watch: CloudWatch;

  constructor(watch: CloudWatch) {
    this.#watch = watch;
  }

  async deny(node: Node, signal: AbortSignal): Promise<number> {
    const { name, uid } = node.metadata;
    await this.#watch.servers.refresh(signal);
    const serverId = parseProviderId(node.spec?.providerID)?.serverId ?? "";
    if (this.#watch.servers.get(serverId)) return this.forget(name);
    const before = this.#counts.get(name);
    const count = before !== undefined && before.uid === uid ? before.count + 1 : 1;
    this.#counts.set(name, { uid, count });
    return count;
  }

  forget(name: string): 0 {
    this.#counts.delete(name);
    return 0;
  }
}
