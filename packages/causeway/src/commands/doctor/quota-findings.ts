import type { CloudFacts, Quota } from "./facts.ts";
import type { Finding } from "./finding.ts";

const words: Readonly<Record<string, string>> = {
  server: "servers",
  port: "ports",
  network: "networks",
  router: "routers",
  floatingip: "floating IPs",
  security_group: "security groups",
  security_group_rule: "security group rules",
  load_balancer: "load balancers",
};

/** What a cluster of three nodes with one Service takes of each at least. */
const needed: Readonly<Record<string, number>> = {
  server: 3,
  port: 6,
  network: 1,
  router: 1,
  floatingip: 1,
  security_group: 2,
  security_group_rule: 20,
  load_balancer: 1,
};

/** One for each quota that is too small for a small cluster, or one that says that there is room. */
export function quotaFindings(quotas: CloudFacts["quotas"]): Finding[] {
  if ("error" in quotas) {
    const todo = "Ask the cloud's operator, or read it with `openstack quota show --usage`.";
    return [{ feature: "quotas", state: "limited", because: `they cannot be read: ${quotas.error}`, todo }];
  }
  const short = Object.entries(quotas.value).flatMap(([name, quota]) => finding(name, quota));
  if (short.length > 0) return short;
  return [{ feature: "quotas", state: "works", because: "each has enough for a small cluster" }];
}

function finding(name: string, { limit, used }: Quota): Finding[] {
  const free = limit < 0 ? Infinity : limit - used;
  if (free >= (needed[name] ?? 1)) return [];
  const because = `${used} of ${limit} are used, and a cluster of three nodes takes ${needed[name] ?? 1}`;
  const todo = "Free some, or ask the cloud's operator for more.";
  return [{ feature: `quota of ${words[name] ?? name}`, state: free <= 0 ? "broken" : "limited", because, todo }];
}
