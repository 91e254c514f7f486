import { cidrContains, parseCidr, parseIp } from "@causeway/foundation";

/** How an agent is chosen for a destination. */
export type ProxyStrategy = "default" | "destHost" | "defaultRoute";

/** What an agent says it is next to. Source: konnectivity's agent identifiers. */
export interface Identifiers {
  readonly hosts: readonly string[];
  readonly cidrs: readonly string[];
  readonly isDefaultRoute: boolean;
}

/** What of an agent decides whether it dials. */
export interface Choosable {
  readonly identifiers: Identifiers;
  readonly isDraining: boolean;
  readonly streams: number;
}

const MOST_IDENTIFIERS = 64;

/** The identifiers of a header: host, ipv4, ipv6, cidr and default-route, URL-encoded. Others are ignored. */
export function readIdentifiers(header: string): Identifiers {
  const query = new URLSearchParams(header.slice(0, 8192));
  const all = (name: string): string[] => query.getAll(name).slice(0, MOST_IDENTIFIERS);
  return {
    hosts: [...all("host"), ...all("ipv4"), ...all("ipv6")].map((each) => each.toLowerCase()),
    cidrs: all("cidr"),
    isDefaultRoute: /^(1|t|true)$/i.test(query.get("default-route") ?? ""),
  };
}

/**
 * The agent that dials the host: by the first strategy that has one, of those that do not drain if there are any.
 * `random` (0 to 1) picks two, of which the one with fewer streams is chosen.
 */
export function chooseAgent<T extends Choosable>(
  agents: readonly T[],
  host: string,
  strategies: readonly ProxyStrategy[],
  random: () => number,
): T | undefined {
  const ready = agents.filter((agent) => !agent.isDraining);
  const from = ready.length > 0 ? ready : agents;
  for (const strategy of strategies) {
    const fitting = from.filter((agent) => fits(agent.identifiers, host, strategy));
    const [first, second] = [pick(fitting, random()), pick(fitting, random())];
    if (first && second) return second.streams < first.streams ? second : first;
  }
  return undefined;
}

function fits({ hosts, cidrs, isDefaultRoute }: Identifiers, host: string, strategy: ProxyStrategy): boolean {
  if (strategy === "default") return true;
  if (strategy === "defaultRoute") return isDefaultRoute;
  const ip = parseIp(host);
  if (hosts.includes(host.toLowerCase())) return true;
  return ip !== undefined && cidrs.map(parseCidr).some((cidr) => cidr !== undefined && cidrContains(cidr, ip));
}

function pick<T>(from: readonly T[], random: number): T | undefined {
  return from[Math.min(from.length - 1, Math.floor(random * from.length))];
}
