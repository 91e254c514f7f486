/** An IPv4 or IPv6 address, as a number. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
}

/** A network in CIDR notation. */
export interface Cidr {
  readonly version: 4 | 6;
  /** The address as written, which may have host bits. */
  readonly address: bigint;
  /** The first address of the network: `address` without host bits. */
  readonly network: bigint;
  /** The length of the prefix in bits. */
  readonly prefix: number;
}

const BITS = { 4: 32, 6: 128 } as const;

/**
 * Reads an address strictly: four decimal parts without leading zeros, or RFC 4291's text forms of IPv6 (embedded IPv4
 * included). No ports, zones, brackets or surrounding space. Undefined if it is none.
 */
export function parseIp(text: string): IpAddress | undefined {
  const value = text.includes(":") ? parseV6(text) : parseV4(text);
  return value === undefined ? undefined : { version: text.includes(":") ? 6 : 4, value };
}

/** The canonical text (RFC 5952 for IPv6). */
export function formatIp(ip: IpAddress): string {
  return ip.version === 4 ? formatV4(ip.value) : formatV6(ip.value);
}

/** The canonical text of an address, or undefined if it is none. */
export function canonicalIp(text: string): string | undefined {
  const ip = parseIp(text);
  return ip && formatIp(ip);
}

/** Below 0 if `a` comes first; IPv4 comes before IPv6. */
export function compareIps(a: IpAddress, b: IpAddress): number {
  if (a.version !== b.version) return a.version - b.version;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

/** Reads ADDRESS/PREFIX; host bits are kept in `address`. Undefined if it is not a CIDR. */
export function parseCidr(text: string): Cidr | undefined {
  const [before, length, more] = text.split("/");
  const ip = before === undefined ? undefined : parseIp(before);
  if (ip === undefined || length === undefined || more !== undefined || !/^(0|[1-9]\d{0,2})$/.test(length)) {
    return undefined;
  }
  const prefix = Number(length);
  if (prefix > BITS[ip.version]) return undefined;
  const hostBits = BigInt(BITS[ip.version] - prefix);
  return { version: ip.version, address: ip.value, network: (ip.value >> hostBits) << hostBits, prefix };
}

/** The canonical text of the network, without host bits. */
export function formatCidr(cidr: Cidr): string {
  return `${formatIp({ version: cidr.version, value: cidr.network })}/${cidr.prefix}`;
}

/** How many addresses the network has, those for the network itself and for broadcast included. */
export function cidrSize(cidr: Cidr): bigint {
  return 1n << BigInt(BITS[cidr.version] - cidr.prefix);
}

/** True if the address, or the whole of the other network, is in this network. */
export function cidrContains(cidr: Cidr, inner: IpAddress | Cidr): boolean {
  if (cidr.version !== inner.version) return false;
  if ("prefix" in inner) return inner.network >= cidr.network && lastOf(inner) <= lastOf(cidr);
  return inner.value >= cidr.network && inner.value <= lastOf(cidr);
}

/** True if the two networks have an address in common. */
export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  return a.version === b.version && a.network <= lastOf(b) && b.network <= lastOf(a);
}

/** The network's address number `n`: 0 is its first, -1 its last. Undefined if the network has fewer addresses. */
export function nthAddress(cidr: Cidr, n: number | bigint): IpAddress | undefined {
  const at = BigInt(n) < 0n ? cidrSize(cidr) + BigInt(n) : BigInt(n);
  if (at < 0n || at >= cidrSize(cidr)) return undefined;
  return { version: cidr.version, value: cidr.network + at };
}

function lastOf(cidr: Cidr): bigint {
  return cidr.network + cidrSize(cidr) - 1n;
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = value * 256 + Number(part);
  }
  return BigInt(value);
}

function formatV4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".");
}

function parseV6(text: string): bigint | undefined {
  const sides = text.split("::");
  if (sides.length > 2) return undefined;
  const head = groupsOf(sides[0] ?? "", sides.length === 1);
  const tail = sides[1] === undefined ? [] : groupsOf(sides[1], true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (sides.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array<bigint>(missing).fill(0n), ...tail];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

/** Only the last group of an address may be IPv4. */
function groupsOf(text: string, last: boolean): bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [i, part] of parts.entries()) {
    if (last && i === parts.length - 1 && part.includes(".")) {
      const v4 = parseV4(part);
      if (v4 === undefined) return undefined;
      groups.push(v4 >> 16n, v4 & 0xffffn);
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(BigInt(`0x${part}`));
    } else return undefined;
  }
  return groups;
}

function formatV6(value: bigint): string {
  if (value >> 32n === 0xffffn) return `::ffff:${formatV4(value & 0xffff_ffffn)}`;
  const groups = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn));
  const [at, length] = longestZeros(groups);
  const hex = (part: number[]) => part.map((g) => g.toString(16)).join(":");
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, at))}::${hex(groups.slice(at + length))}`;
}

/** The first of the longest runs of zeros: where it begins and how long it is. */
function longestZeros(groups: readonly number[]): [number, number] {
  let best: [number, number] = [0, 0];
  for (let i = 0; i < groups.length; i++) {
    let length = 0;
    while (i + length < groups.length && groups[i + length] === 0) length++;
    if (length > best[1]) best = [i, length];
    i += length;
  }
  return best;
}
