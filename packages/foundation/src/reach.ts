import type { LookupFunction } from "node:net";
import { dialRefusal, type DialRules } from "./dial-rules.ts";
import type { Cidr } from "./ip.ts";
import { resolveAll, type ResolveAll } from "./resolve-names.ts";

/** Which servers that a tenant names are requested. */
export interface Reach {
  /** Why this URL is not requested; undefined: it is, or its name has to be resolved first. */
  refusal(url: string): string | undefined;
  /** Resolves names to addresses that may be dialled: one that was checked is the one that is dialled. */
  readonly lookup: LookupFunction;
}

/** Addresses of one name that are tried. */
const MOST_ADDRESSES = 8;

/** Servers in these networks only, whatever names and addresses a tenant's URLs and documents have. */
export function reachWithin(networks: readonly Cidr[], resolve: ResolveAll = resolveAll()): Reach {
  const rules: DialRules = { allow: networks, deny: [], names: undefined };
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
