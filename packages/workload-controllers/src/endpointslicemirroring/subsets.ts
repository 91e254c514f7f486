import { canonicalIp, canonicalJson, compareIps, parseIp } from "@causeway/foundation";
import type { EndpointAddress, EndpointSubset } from "@causeway/kubernetes";

type Ports = NonNullable<EndpointSubset["ports"]>;

/** An address of a canonical subset. */
export interface Member {
  readonly address: EndpointAddress;
  readonly ready: boolean;
}

/** Ports, and every address that has all of them and no other. */
export interface CanonicalSubset {
  readonly ports: Ports;
  /** Ready ones first, each in the order of its address. */
  readonly members: readonly Member[];
}

/**
 * The subsets as upstream repacks them: each port is in one subset only, ports with the same addresses share one, an
 * address that is listed twice counts once, and it is not ready if one of the lists says so.
 */
export function canonicalSubsets(subsets: readonly EndpointSubset[]): CanonicalSubset[] {
  const addresses = new Map<string, EndpointAddress>();
  const ports = new Map<string, { port: Ports[number] | undefined; ready: Map<string, boolean> }>();
  const accumulate = (address: EndpointAddress, port: Ports[number] | undefined, ready: boolean) => {
    const id = identityOf(address);
    addresses.getOrInsert(id, address);
    const found = ports.getOrInsertComputed(canonicalJson(port ?? null), () => ({ port, ready: new Map() }));
    found.ready.set(id, ready && (found.ready.get(id) ?? true));
  };
  for (const subset of subsets) {
    // A subset without ports is one of its own.
    for (const port of subset.ports?.length ? subset.ports.map(withDefaults) : [undefined]) {
      for (const address of subset.addresses ?? []) accumulate(address, port, true);
      for (const address of subset.notReadyAddresses ?? []) accumulate(address, port, false);
    }
  }
  const groups = new Map<string, { ports: Ports; ready: Map<string, boolean> }>();
  for (const { port, ready } of ports.values()) {
    const key = canonicalJson([port === undefined, [...ready].toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    const group = groups.getOrInsertComputed(key, () => ({ ports: [], ready }));
    if (port) group.ports.push(port);
  }
  return [...groups.values()].map((group) => ({
    ports: group.ports,
    members: [...group.ready]
      .flatMap(([id, ready]) => {
        const address = addresses.get(id);
        return address ? [{ address, ready }] : [];
      })
      .toSorted((a, b) => Number(b.ready) - Number(a.ready) || compare(a.address, b.address)),
  }));
}

/** As the server stores the port of a slice. */
function withDefaults({ name = "", protocol = "TCP", ...port }: Ports[number]): Ports[number] {
  return { name, protocol, ...port };
}

/** The same address of the same object. */
function identityOf({ ip, targetRef }: EndpointAddress): string {
  return canonicalJson([canonicalIp(ip) ?? ip, targetRef?.uid ?? ""]);
}

function compare(a: EndpointAddress, b: EndpointAddress): number {
  const one = parseIp(a.ip);
  const other = parseIp(b.ip);
  const order = one && other ? compareIps(one, other) : Number(one !== undefined) - Number(other !== undefined);
  return order || (identityOf(a) < identityOf(b) ? -1 : 1);
}
