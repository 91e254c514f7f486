import { cidrContains, formatIp, parseCidr, parseIp, type Cidr, type IpAddress } from "./ip.ts";

/** What may be dialled for a tenant, who chooses addresses and names. */
export interface DialRules {
  /** Networks of nodes, pods and services; undefined: every address that is not special. */
  readonly allow: readonly Cidr[] | undefined;
  /** Networks that are refused even if allowed, such as those of the management cluster. */
  readonly deny: readonly Cidr[];
  /** Names, or the ends of names after a dot; undefined: every name. */
  readonly names: readonly string[] | undefined;
}

/**
 * Addresses of one machine, of one link, of groups. They are dialled only if an allowed network is within one of
 * these.
 */
const SPECIAL: readonly (readonly [network: string, what: string])[] = [
  ["0.0.0.0/8", "an unspecified address"],
  ["127.0.0.0/8", "a loopback address"],
  ["169.254.0.0/16", "a link-local address, as of a metadata service"],
  ["224.0.0.0/4", "a multicast address"],
  ["240.0.0.0/4", "a reserved address"],
  ["::/128", "an unspecified address"],
  ["::1/128", "a loopback address"],
  ["fe80::/10", "a link-local address"],
  ["fd00:ec2::254/128", "the address of a metadata service"],
  ["ff00::/8", "a multicast address"],
];

/** IPv4 addresses within IPv6: mapped, compatible, and of NAT64. */
const EMBEDDED = ["::ffff:0:0/96", "::/96", "64:ff9b::/96"].map(network);
const special = SPECIAL.map(([cidr, what]) => ({ cidr: network(cidr), what }));

/** Why a host (an address or a name) and port may not be dialled; undefined: they may. */
export function dialRefusal(rules: DialRules, host: string, port: number): string | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return `port ${port} is not between 1 and 65535`;
  const ip = parseIp(host);
  return ip ? refusalOfAddress(rules, unwrap(ip)) : refusalOfName(rules, host.toLowerCase().replace(/\.$/, ""));
}

function refusalOfAddress({ allow, deny }: DialRules, ip: IpAddress): string | undefined {
  const found = special.find(({ cidr }) => cidrContains(cidr, ip));
  if (found) {
    const isNamed = allow?.some((cidr) => cidrContains(cidr, ip) && cidrContains(found.cidr, cidr)) ?? false;
    if (!isNamed) return `${formatIp(ip)} is ${found.what}`;
  }
  if (deny.some((cidr) => cidrContains(cidr, ip))) return `${formatIp(ip)} is in a denied network`;
  if (allow && !allow.some((cidr) => cidrContains(cidr, ip))) return `${formatIp(ip)} is in no allowed network`;
  return undefined;
}

function refusalOfName({ names }: DialRules, name: string): string | undefined {
  const shown = JSON.stringify(name.slice(0, 253));
  const labels = name.split(".");
  const isName = name.length <= 253 && labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?$/.test(label));
  // Resolvers read "2130706433" and "0x7f.1" as addresses.
  if (!isName || /^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? ""))
    return `${shown} is neither an address nor a DNS name`;
  if (labels.at(-1) === "localhost") return `${shown} is a name of this machine`;
  if (names && !names.some((each) => name === each || name.endsWith(`.${each}`)))
    return `${shown} is not an allowed name`;
  return undefined;
}

function unwrap(ip: IpAddress): IpAddress {
  const isPlain = ip.version === 4 || ip.value <= 1n || !EMBEDDED.some((cidr) => cidrContains(cidr, ip));
  return isPlain ? ip : { version: 4, value: ip.value & 0xffff_ffffn };
}

function network(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new Error(`${text} is not a network`);
  return cidr;
}
