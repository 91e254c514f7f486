import type { LookupFunction } from "node:net";
import { dialRefusal, parseCidr, type Cidr, type DialRules } from "@causeway/foundation";
import { invalidAuthentication } from "./configuration.ts";
import { resolveAll, type ResolveAll } from "./resolve.ts";

/** Where an issuer's keys may be fetched from. */
export interface Reach {
  /** Why this URL is not requested; undefined: it is, or its name has to be resolved first. */
  refusal(url: string): string | undefined;
  /** Resolves names to addresses that may be dialled: one that was checked is the one that is dialled. */
  readonly lookup: LookupFunction;
}

/** Addresses of one name that are tried. */
const MOST_ADDRESSES = 8;

/**
 * These networks only, whatever names and addresses an issuer's documents have. Throws AUTHENTICATION_CONFIG_INVALID.
 */
export function reachOf(networks: readonly string[], resolve: ResolveAll = resolveAll()): Reach {
  const rules: DialRules = { allow: networks.map(networkOf), deny: [], names: undefined };
  return {
    refusal(url) {
      const { hostname, port } = new URL(url);
      const host = hostname.replace(/^\[(.*)\]$/, "$1");
      const why = dialRefusal(rules, host, Number(port || 443));
      return why === undefined ? undefined : `${why}, so it is not requested`;
    },
    lookup(name, options, done) {
      resolve(name, (error, addresses) => {
        if (error) return done(error, "");
        const allowed = addresses
          .filter(({ address }) => dialRefusal(rules, address, 443) === undefined)
          .slice(0, MOST_ADDRESSES);
        const [first] = allowed;
        // Tenants read this in TokenReviews: it must not say what names of the operator's network lead to.
        if (first === undefined)
          return done(new Error(`${name} is not requested: it has no address in the permitted networks`), "");
        if (options.all === true) return done(null, allowed);
        return done(null, first.address, first.family);
      });
    },
  };
}

function networkOf(given: string, index: number): Cidr {
  const cidr = parseCidr(given);
  if (cidr) return cidr;
  throw invalidAuthentication(`issuerNetworks[${index}]`, `${given} is not a network such as 192.0.2.0/24`);
}
