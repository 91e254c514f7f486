import type { CloudFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";

/** The minor version of Octavia's API from which on something is there, and the release that brought it. */
const since = {
  timeouts: [1, "Rocky"],
  tags: [5, "Stein"],
  flavors: [6, "Stein"],
  allowedCidrs: [12, "Train"],
  zones: [14, "Ussuri"],
  wallaby: [24, "Wallaby"],
  moreVips: [26, "Zed"],
} as const;

/** What each provider will do of what Services ask for. */
export function loadBalancerFindings(facts: CloudFacts): Finding[] {
  const description = facts.services["load-balancer"];
  if ("error" in description || description.value === undefined) return [];
  const minor = Math.max(0, ...description.value.versions.map((v) => Number(/^v2\.(\d+)$/.exec(v.id)?.[1] ?? 0)));
  const { loadBalancers, providers } = facts;
  if ("error" in loadBalancers)
    return [
      {
        feature: "load balancers",
        state: "broken",
        because: `they cannot be listed: ${loadBalancers.error}`,
        todo: "Ask the operator for the role load-balancer_member in this project.",
      },
    ];
  const names = "value" in providers ? providers.value : [];
  const octavia = names.filter((name) => name !== "ovn");
  return [
    {
      feature: "load balancer providers",
      state: names.length > 0 ? "works" : "limited",
      because: names.join(", ") || "Octavia lists none",
    },
    ...(octavia.length > 0 ? amphora(minor) : []),
    ...(names.includes("ovn") ? ovn(minor) : []),
    ownership(minor),
  ];
}

function gate(feature: string, minor: number, [needed, release]: readonly [number, string]): Finding {
  if (minor >= needed) return { feature, state: "works", because: `Octavia has API version 2.${minor}` };
  return {
    feature,
    state: "missing",
    because: `Octavia has API version 2.${minor}; it needs 2.${needed} (${release})`,
    todo: "The controller leaves it out of its requests; upgrade Octavia to use it.",
  };
}

function amphora(minor: number): Finding[] {
  return [
    gate("source ranges (amphora)", minor, since.allowedCidrs),
    gate("timeouts (amphora)", minor, since.timeouts),
    gate("flavors (amphora)", minor, since.flavors),
    gate("availability zones (amphora)", minor, since.zones),
    gate("additional addresses (amphora)", minor, since.moreVips),
  ];
}

function ovn(minor: number): Finding[] {
  const old = minor < since.wallaby[0];
  return [
    {
      feature: "source ranges (ovn)",
      state: "limited",
      because: "the OVN provider does not support source ranges",
      todo: "Set manage-security-groups=true: the nodes' security groups then restrict the sources.",
    },
    {
      feature: "methods, timeouts, flavors (ovn)",
      state: "limited",
      because:
        "the OVN provider supports method SOURCE_IP_PORT only, and does not support timeouts, flavors, the PROXY protocol or TLS",
      todo: "Use amphora for Services that need them.",
    },
    old
      ? {
          feature: "health monitors (ovn)",
          state: "missing",
          because: `Octavia has API version 2.${minor}: OVN providers before Wallaby have none`,
          todo: "Leave create-monitor off: a dead node keeps getting traffic until it leaves the cluster.",
        }
      : {
          feature: "health monitors (ovn)",
          state: "works",
          because: "TCP and UDP; they are created after the load balancer",
        },
    old
      ? {
          feature: "batch member updates (ovn)",
          state: "limited",
          because: "OVN providers before Wallaby may lose members of a batch that removes and adds",
          todo: "Set provider-requires-serial-api-calls=true.",
        }
      : {
          feature: "batch member updates (ovn)",
          state: "works",
          because: "one request for each pool; a request with many members is slow (measured: 170 ms for each member)",
        },
  ];
}

function ownership(minor: number): Finding {
  return gate("shared load balancers", minor, since.tags);
}
