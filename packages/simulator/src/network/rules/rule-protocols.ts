import { integer } from "../kit/attributes.ts";
import { neutronError } from "../errors.ts";

/** Protocol names that security groups take, with their numbers (IANA). */
const numbers: Readonly<Record<string, number>> = {
  ah: 51,
  dccp: 33,
  egp: 8,
  esp: 50,
  gre: 47,
  hopopt: 0,
  icmp: 1,
  igmp: 2,
  ip: 0,
  ipip: 4,
  "ipv6-encap": 41,
  "ipv6-frag": 44,
  "ipv6-icmp": 58,
  icmpv6: 58,
  "ipv6-nonxt": 59,
  "ipv6-opts": 60,
  "ipv6-route": 43,
  ospf: 89,
  pgm: 113,
  rsvp: 46,
  sctp: 132,
  tcp: 6,
  udp: 17,
  udplite: 136,
  vrrp: 112,
};
const ported = new Set([6, 17, 33, 132, 136]);
const icmp = new Set([1, 58]);

/** A rule's protocol as it is kept: a lower-case name or a number's digits; null is any. */
export function protocol(value: unknown): string | null {
  if (value === null || value === "") return null;
  const word = String(value as string | number).toLowerCase();
  if (Object.hasOwn(numbers, word) || (/^\d+$/.test(word) && Number(word) <= 255)) return word;
  const names = Object.keys(numbers).map((name) => `'${name}'`);
  const why = `Security group rule protocol ${String(value as string)} not supported.`;
  const known = `Only protocol values [None, ${names.join(", ")}] and integer representations [0 to 255] are supported.`;
  throw neutronError(400, "SecurityGroupRuleInvalidProtocol", `${why} ${known}`);
}

/** The IP protocol number of a rule's name or digits: 6 for "tcp". */
export function protocolNumber(word: string): number {
  return numbers[word] ?? Number(word);
}

/** A rule's protocol with its ports, or for ICMP its type (`min`) and code (`max`). */
export interface PortRange {
  readonly protocol: string | null;
  readonly min: number | null;
  readonly max: number | null;
}

/** A port, or an ICMP type or code. */
export function portNumber(value: unknown): number | null {
  if (value === null) return null;
  const port = integer(value);
  if (port >= 0 && port <= 65535) return port;
  throw neutronError(400, "SecurityGroupInvalidPortValue", `Invalid value for port ${port}`);
}

/** 400 if the ports do not fit the protocol. */
export function checkPortRange({ protocol: word, min, max }: PortRange): void {
  if (min === null && max === null) return;
  if (word === null) {
    const why = "Must also specify protocol if port range is given.";
    throw neutronError(400, "SecurityGroupProtocolRequiredWithPorts", why);
  }
  const number = protocolNumber(word);
  if (icmp.has(number)) return checkIcmp(min, max);
  if (ported.has(number)) {
    if (min !== null && max !== null && min <= max) return undefined;
    const why = "For TCP/UDP protocols, port_range_min must be <= port_range_max";
    throw neutronError(400, "SecurityGroupInvalidPortRange", why);
  }
  const why = `Invalid protocol ${word} for port range, only supported for TCP, UDP, UDPLITE, SCTP and DCCP.`;
  throw neutronError(400, "SecurityGroupInvalidProtocolForPort", why);
}

function checkIcmp(type: number | null, code: number | null): void {
  for (const [field, value] of [
    ["ICMP type (port_range_min)", type],
    ["ICMP code (port_range_max)", code],
  ] as const) {
    if (value === null || value <= 255) continue;
    throw neutronError(
      400,
      "SecurityGroupInvalidIcmpValue",
      `Invalid value for ${field} ${value}. It must be 0 to 255.`,
    );
  }
  if (type === null && code !== null) {
    const why = `ICMP code (port-range-max) ${code} is provided but ICMP type (port-range-min) is missing.`;
    throw neutronError(400, "SecurityGroupMissingIcmpType", why);
  }
}
