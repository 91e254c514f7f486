import { formatIp, parseIp } from "@causeway/foundation";

/** What is wrong with the name of an IPAddress: it is the address, in its canonical form. */
export function addressFaults(name: string): string[] {
  const ip = parseIp(name);
  if (!ip) return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
  return formatIp(ip) === name ? [] : [`must be in canonical form ("${formatIp(ip)}")`];
}
