import { BlockList, isIP } from "node:net";

/** A network in CIDR form. `text` is canonical: host bits are zero. */
export interface Cidr {
  readonly version: 4 | 6;
  readonly text: string;
  contains(address: string): boolean;
  overlaps(cidr: string): boolean;
}

/** Reads "10.6.0.0/24" or "fd00::/64"; undefined for anything else. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = "", prefix = "", more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more !== undefined || !/^\d{1,3}$/.test(prefix)) return undefined;
  const version = family === 4 ? 4 : 6;
  const length = Number(prefix);
  if (length > (version === 4 ? 32 : 128)) return undefined;
  const type = version === 4 ? "ipv4" : "ipv6";
  const range = new BlockList();
  range.addSubnet(address, length, type);
  const contains = (candidate: string) => isIP(candidate) === family && range.check(candidate, type);
  return {
    version,
    text: canonical(address, length, version),
    contains,
    overlaps(other) {
      const parsed = parseCidr(other);
      if (!parsed || parsed.version !== version) return false;
      return (
        contains(networkAddress(parsed.text)) || parsed.contains(networkAddress(canonical(address, length, version)))
      );
    },
  };
}

function networkAddress(cidr: string): string {
  return cidr.slice(0, cidr.indexOf("/"));
}

function canonical(address: string, length: number, version: 4 | 6): string {
  const bits = version === 4 ? 32 : 128;
  const mask = ((1n << BigInt(length)) - 1n) << BigInt(bits - length);
  return `${format(toNumber(address, version) & mask, version)}/${length}`;
}

function toNumber(address: string, version: 4 | 6): bigint {
  const groups = version === 4 ? address.split(".").map(Number) : hextets(address);
  const width = version === 4 ? 8n : 16n;
  return groups.reduce((sum, group) => (sum << width) | BigInt(group), 0n);
}

/** The URL parser knows every way to write an IPv6 address, and gives the shortest. */
function hextets(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const left = head.split(":").filter((g) => g !== "");
  const right = (tail ?? "").split(":").filter((g) => g !== "");
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right].map((g) => Number.parseInt(g, 16));
}

function format(value: bigint, version: 4 | 6): string {
  const [count, width] = version === 4 ? [4, 8] : [8, 16];
  const groups = Array.from({ length: count }, (_, i) =>
    Number((value >> BigInt((count - 1 - i) * width)) & ((1n << BigInt(width)) - 1n)),
  );
  if (version === 4) return groups.join(".");
  return new URL(`http://[${groups.map((g) => g.toString(16)).join(":")}]`).hostname.slice(1, -1);
}
