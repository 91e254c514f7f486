import { cidrContains, cidrsOverlap, formatCidr, parseCidr as parse, parseIp } from "@causeway/foundation";

/** A network in CIDR form. `text` is canonical: host bits are zero. */
export interface Cidr {
  readonly version: 4 | 6;
  readonly text: string;
  contains(address: string): boolean;
  overlaps(cidr: string): boolean;
}

/** Reads "10.6.0.0/24" or "fd00::/64"; undefined for anything else. */
export function parseCidr(text: string): Cidr | undefined {
  const cidr = parse(text);
  if (!cidr) return undefined;
  return {
    version: cidr.version,
    text: formatCidr(cidr),
    contains(address) {
      const ip = parseIp(address);
      return ip !== undefined && cidrContains(cidr, ip);
    },
    overlaps(other) {
      const parsed = parse(other);
      return parsed !== undefined && cidrsOverlap(cidr, parsed);
    },
  };
}
