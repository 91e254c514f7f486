/** The IPv4 addresses of a service network, counted from its first one. */
export interface ServiceNetwork {
  /** Addresses that may be given out. */
  readonly size: number;
  /** The address at `index`, 1 being the first that may be given out. */
  address(index: number): string;
  /** The index of an address; undefined when it is not in the network or may not be given out. */
  index(address: string): number | undefined;
}

const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;

/** Reads an IPv4 CIDR. Throws a plain Error for anything else. */
export function serviceNetwork(cidr: string): ServiceNetwork {
  const [base = "", bits = ""] = cidr.split("/");
  const prefix = Number(bits);
  const start = number(base);
  if (start === undefined || !(prefix >= 8 && prefix <= 30)) throw new Error(`${cidr} is not an IPv4 service network`);
  const count = 2 ** (32 - prefix);
  const first = start - (start % count);
  return {
    size: count - 2,
    address: (index) => dotted(first + index),
    index: (address) => {
      const at = number(address);
      if (at === undefined || at <= first || at >= first + count - 1) return undefined;
      return at - first;
    },
  };
}

function number(address: string): number | undefined {
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((p) => /^(0|[1-9]\d{0,2})$/.test(p) && Number(p) < 256)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

/** What the services of one cluster hold. Built from the stored services, so that it is right after any crash. */
export class Allocations {
  readonly network: ServiceNetwork;
  readonly #addresses = new Map<string, string>();
  readonly #ports = new Map<number, string>();
  #next = 0;

  constructor(cidr: string) {
    this.network = serviceNetwork(cidr);
  }

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

  /** A free address above the part kept for chosen ones (the first 16 to 256), or of that part when it is full. */
  freeAddress(): string | undefined {
    const { size } = this.network;
    const reserved = Math.min(Math.max(16, Math.floor(size / 16)), 256);
    const from = size > reserved ? reserved : 0;
    const span = size - from;
    for (let i = 0; i < span; i += 1) {
      const index = from + 1 + ((this.#next + i) % span);
      const address = this.network.address(index);
      if (this.#addresses.has(address)) continue;
      this.#next = (index - from) % span;
      return address;
    }
    for (let index = 2; index <= from; index += 1) {
      const address = this.network.address(index);
      if (!this.#addresses.has(address)) return address;
    }
    return undefined;
  }

  /** A free node port above the 86 kept for chosen ones, or of those when the others are taken. */
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
