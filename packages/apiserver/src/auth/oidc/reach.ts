import { parseCidr, reachWithin, type Cidr, type Reach, type ResolveAll } from "@causeway/foundation";
import { invalidAuthentication } from "./configuration.ts";

/**
 * These networks only, whatever names and addresses an issuer's documents have. Throws AUTHENTICATION_CONFIG_INVALID.
 */
export function reachOf(networks: readonly string[], resolve?: ResolveAll): Reach {
  return reachWithin(networks.map(networkOf), resolve);
}

function networkOf(given: string, index: number): Cidr {
  const cidr = parseCidr(given);
  if (cidr) return cidr;
  throw invalidAuthentication(`issuerNetworks[${index}]`, `${given} is not a network such as 192.0.2.0/24`);
}
