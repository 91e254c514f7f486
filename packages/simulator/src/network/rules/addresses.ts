/** An IP address as a number. */
export interface Ip {
  readonly version: 4 | 6;
  readonly value: bigint;
}

/** A network prefix; `base` has no host bits. */
export interface Cidr {
  readonly version: 4 | 6;
  readonly base: bigint;
  readonly length: number;
  /** The last address of the prefix. */
  readonly last: bigint;
}

/** Undefined if the text is not an address. */
export function parseIp(text: string): Ip | undefined {
  const value = text.includes(":") ? parse6(text) : parse4(text);
  return value === undefined ? undefined : { version: text.includes(":") ? 6 : 4, value };
}

/** The canonical text (RFC 5952 for IPv6). */
export function formatIp({ version, value }: Ip): string {
  return version === 4 ? format4(value) : format6(value);
}

/** Takes "10.0.0.5/24" (host bits dropped) and "10.0.0.5" (a prefix of one address). Undefined if it is neither. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = "", suffix, more] = text.split("/");
  const ip = parseIp(address);
  if (!ip || more !== undefined) return undefined;
  const bits = ip.version === 4 ? 32 : 128;
  if (suffix !== undefined && !/^\d{1,3}$/.test(suffix)) return undefined;
  const length = suffix === undefined ? bits : Number(suffix);
  if (length > bits) return undefined;
  const hosts = (1n << BigInt(bits - length)) - 1n;
  const base = ip.value & ~hosts;
  return { version: ip.version, base, length, last: base | hosts };
}

/** The canonical text of a prefix: "10.0.0.0/24". */
export function formatCidr({ version, base, length }: Cidr): string {
  return `${formatIp({ version, value: base })}/${length}`;
}

/** True if the address is in the prefix; false for another IP version. */
export function contains(cidr: Cidr, ip: Ip): boolean {
  return cidr.version === ip.version && ip.value >= cidr.base && ip.value <= cidr.last;
}

/** True if the prefixes have an address in common; false for another IP version. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return a.version === b.version && a.base <= b.last && b.base <= a.last;
}

/** The address that a host with this MAC gives itself below a /64 (RFC 4291, modified EUI-64). */
export function slaacAddress(prefix: Cidr, mac: string): Ip {
  const bytes = mac.split(":").map((byte) => Number.parseInt(byte, 16));
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = bytes;
  let host = 0n;
  for (const byte of [a ^ 2, b, c, 0xff, 0xfe, d, e, f]) host = (host << 8n) | BigInt(byte);
  return { version: 6, value: prefix.base | host };
}

function parse4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function format4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".");
}

function parse6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(groupsOf);
  if (!head || (halves.length === 2 && !tail)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0n), ...(tail ?? [])];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

function groupsOf(text: string): bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const v4 = index === parts.length - 1 && part.includes(".") ? parse4(part) : undefined;
    if (v4 !== undefined) groups.push(v4 >> 16n, v4 & 0xffffn);
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}

function format6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > best.length) best = { start, length };
  }
  if (best.start < 0) return groups.join(":");
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`;
}
