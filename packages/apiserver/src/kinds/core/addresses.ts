import { cidrContains, cidrSize, formatIp, parseCidr, parseIp, type Cidr } from "@causeway/foundation";

/** An IP family, as `spec.ipFamilies` of a Service names it. */
export type Family = "IPv4" | "IPv6";

/** The addresses of a service network, counted from its first one. */
export interface ServiceNetwork {
  readonly family: Family;
  /** Addresses that may be given out; of an IPv6 network the first 2^32. */
  readonly size: number;
  /** The address at `index`, 1 being the first that may be given out. */
  address(index: number): string;
  /** True for an address that may be given out. */
  has(address: string): boolean;
}

const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;
/** Prefixes of networks that services can have: what kube-apiserver's allocators take, and room for some. */
const PREFIXES = { 4: [8, 30], 6: [64, 126] } as const;
const MOST = 2 ** 32;

/** Reads a CIDR. Throws a plain Error for anything else, and for networks that are too large or too small. */
export function serviceNetwork(cidr: string): ServiceNetwork {
  const parsed = parseCidr(cidr.trim());
  const [least, most] = parsed ? PREFIXES[parsed.version] : [0, 0];
  if (!parsed || parsed.prefix < least || parsed.prefix > most) throw new Error(`${cidr} is not a service network`);
  return networkOf(parsed);
}

/** Any network of a ServiceCIDR object, however small. */
export function networkOf(cidr: Cidr): ServiceNetwork {
  const { version, network } = cidr;
  // The network address is not allocated, nor is the broadcast address of IPv4.
  const last = network + cidrSize(cidr) - (version === 4 ? 2n : 1n);
  return {
    family: version === 4 ? "IPv4" : "IPv6",
    size: Number(last - network > BigInt(MOST) ? BigInt(MOST) : last - network),
    address: (index) => formatIp({ version, value: network + BigInt(index) }),
    has: (address) => {
      const ip = parseIp(address);
      return ip !== undefined && cidrContains(cidr, ip) && ip.value > network && ip.value <= last;
    },
  };
}

/**
 * The networks of a `serviceCidr` option: one, or one of each family, the first being the default. Throws a plain
 * Error.
 */
export function serviceNetworks(cidrs: string): readonly [ServiceNetwork, ...ServiceNetwork[]] {
  const [first, second, ...more] = cidrs.split(",").map(serviceNetwork);
  if (!first || more.length > 0 || (second && second.family === first.family)) {
    throw new Error(`${cidrs} are not one service network, nor one of each family`);
  }
  return second ? [first, second] : [first];
}

/** The family of a valid address. */
export function familyOf(address: string): Family {
  return address.includes(":") ? "IPv6" : "IPv4";
}

/** What the services of one cluster hold. Built from the stored services, so that it is right after any crash. */
export class Allocations {
  readonly #addresses = new Map<string, string>();
  readonly #ports = new Map<number, string>();
  readonly #next = new Map<string, number>();

  holder(address: string): string | undefined {
    return this.#addresses.get(address);
  }

  portHolder(port: number): string | undefined {
    return this.#ports.get(port);
  }

  takeAddress(address: string, owner: string): void {
    this.#addresses.set(address, owner);
  }

  takePort(port: number, owner: string): void {
    this.#ports.set(port, owner);
  }

  release(owner: string, kept: { addresses: ReadonlySet<string>; ports: ReadonlySet<number> }): void {
    for (const [a, o] of this.#addresses) if (o === owner && !kept.addresses.has(a)) this.#addresses.delete(a);
    for (const [p, o] of this.#ports) if (o === owner && !kept.ports.has(p)) this.#ports.delete(p);
  }

  /**
   * A free address above the part kept for chosen ones (the first 16 to 256, KEP-3070), or of that part when the rest
   * is in use. `taken` returns whether an address is held by an object that is not a Service.
   */
  freeAddress(network: ServiceNetwork, taken: (address: string) => boolean): string | undefined {
    const { size } = network;
    const reserved = Math.min(Math.max(16, Math.floor(size / 16)), 256);
    const from = size > reserved ? reserved : 0;
    const span = size - from;
    const key = network.address(0);
    const start = this.#next.get(key) ?? 0;
    const isFree = (address: string): boolean => !this.#addresses.has(address) && !taken(address);
    for (let i = 0; i < span; i += 1) {
      const at = (start + i) % span;
      const address = network.address(from + 1 + at);
      if (!isFree(address)) continue;
      this.#next.set(key, (at + 1) % span);
      return address;
    }
    for (let index = 2; index <= from; index += 1) {
      const address = network.address(index);
      if (isFree(address)) return address;
    }
    return undefined;
  }

  /** A free node port above the 86 kept for chosen ones (KEP-3668), or of those when the others are in use. */
  freePort(): number | undefined {
    const span = LAST_NODE_PORT - FIRST_NODE_PORT + 1;
    for (let i = 0; i < span; i += 1) {
      const port = FIRST_NODE_PORT + ((86 + i) % span);
      if (!this.#ports.has(port)) return port;
    }
    return undefined;
  }

  static isNodePort(port: number): boolean {
    return port >= FIRST_NODE_PORT && port <= LAST_NODE_PORT;
  }
}
