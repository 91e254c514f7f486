import { Resolver, type LookupAddress } from "node:dns";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";

/** How names are resolved to all of their addresses. */
export type ResolveAll = (name: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/** Where names are found. Default: /etc/hosts, and the servers of this machine. */
export interface ResolveOptions {
  readonly hostsFile?: string;
  readonly servers?: readonly string[];
}

/** Ms that one server has for one attempt. */
const TIMEOUT = 2_000;

/**
 * Queries DNS itself, without search domains. The operating system's resolver would hold one of the few threads that
 * all lookups of this process have: names whose servers do not respond would keep those of other tenants from being
 * found.
 */
export function resolveAll({ hostsFile = "/etc/hosts", servers }: ResolveOptions = {}): ResolveAll {
  return (name, done) => {
    const host = name.toLowerCase().replace(/\.$/, "");
    const listed = listedIn(hostsFile, host);
    if (listed.length > 0) return process.nextTick(done, null, listed);
    const resolver = new Resolver({ timeout: TIMEOUT, tries: 2 });
    if (servers) resolver.setServers(servers);
    const found: LookupAddress[] = [];
    let open = 2;
    let failure: Error | null = null;
    const ended = (family: 4 | 6) => (error: Error | null, addresses: readonly string[] | undefined) => {
      for (const address of addresses ?? []) found.push({ address, family });
      failure ??= error;
      open -= 1;
      if (open > 0) return;
      found.sort((a, b) => a.family - b.family);
      done(found.length > 0 ? null : failure, found);
    };
    resolver.resolve4(host, ended(4));
    resolver.resolve6(host, ended(6));
  };
}

/** Addresses of a line such as "192.0.2.7 issuer.example.org issuer". */
function listedIn(file: string, host: string): LookupAddress[] {
  return readText(file)
    .split("\n")
    .flatMap((line) => {
      const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
      const isListed = isIP(address) !== 0 && names.some((each) => each.toLowerCase() === host);
      return isListed ? [{ address, family: isIP(address) }] : [];
    });
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
