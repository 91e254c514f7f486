import { cidrSize, formatIp, nthAddress, parseCidr } from "@causeway/foundation";
import type { Node, Pod } from "@causeway/kubernetes";

/**
 * Where a container runtime takes addresses from when the Node has no podCIDR (the default of its bridge plugin): the
 * same on every node.
 */
const BRIDGE = "10.88.0.0/16";
/** Addresses that are tried; a node runs 110 pods. */
const MOST = 4096n;

/** The InternalIPs of a node, which pods in the host's network have. */
export function hostIPsOf(node: Node | undefined): readonly string[] {
  const internal = (node?.status?.addresses ?? []).filter(({ type }) => type === "InternalIP");
  return internal.map(({ address }) => address);
}

/**
 * Assigns addresses of a node's networks to its pods. A pod that has some keeps them, also after a restart of the node.
 */
export class PodAddresses {
  readonly #byPod = new Map<string, readonly string[]>();

  /** The addresses of a pod: new ones, one of each network, when it has none. `pods`: all of the node. */
  take(pod: Pod, node: Node | undefined, pods: readonly Pod[]): readonly string[] {
    if (pod.spec.hostNetwork === true) return hostIPsOf(node);
    const { uid = "" } = pod.metadata;
    const known = pod.status?.podIPs?.map(({ ip }) => ip) ?? this.#byPod.get(uid);
    if (known) return known;
    const taken = new Set([...this.#byPod.values()].flat());
    for (const { status } of pods) for (const { ip } of status?.podIPs ?? []) taken.add(ip);
    const made = networksOf(node).flatMap((network) => freeAddress(network, taken));
    this.#byPod.set(uid, made);
    return made;
  }

  release(uid: string): void {
    this.#byPod.delete(uid);
  }
}

function networksOf(node: Node | undefined): readonly string[] {
  const spec = (node?.spec ?? {}) as { podCIDR?: string; podCIDRs?: readonly string[] };
  return spec.podCIDRs ?? [spec.podCIDR ?? BRIDGE];
}

/** None when the network is full: the pod then has no address, as its status shows. */
function freeAddress(network: string, taken: ReadonlySet<string>): string[] {
  const cidr = parseCidr(network);
  if (!cidr) return [];
  const size = cidrSize(cidr);
  // The first is the network's, the second the bridge's.
  for (let n = 2n; n < size && n < MOST; n += 1n) {
    const address = nthAddress(cidr, n);
    if (!address) return [];
    const text = formatIp(address);
    if (!taken.has(text)) return [text];
  }
  return [];
}
