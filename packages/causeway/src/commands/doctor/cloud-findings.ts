import type { ServiceDescription } from "@causeway/openstack";
import { services, type CloudAnswer, type AskedService, type CloudFacts } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { loadBalancerFindings } from "./load-balancer-findings.ts";

/** Services, clocks, networks and load balancers, in the order in which they matter. */
export function cloudFindings(facts: CloudFacts): Finding[] {
  return [
    ...services.flatMap((service) => serviceFinding(service, facts.services[service])),
    clocks(facts.services),
    externalNetworks(facts),
    ...neutron(facts.extensions),
    ...loadBalancerFindings(facts),
  ];
}

/** What is lost without a service. */
const uses: Readonly<Record<AskedService, readonly ["broken" | "missing", string]>> = {
  identity: ["broken", "nothing works without it"],
  compute: ["broken", "there are no machines without it"],
  network: ["broken", "there are no networks without it"],
  image: ["broken", "machines are made from its images"],
  "load-balancer": ["missing", "Services of type LoadBalancer get no address; nodes are initialised all the same"],
  "block-storage": ["missing", "there are no volumes"],
  "key-manager": ["missing", "TLS cannot end at a load balancer"],
};

function serviceFinding(service: AskedService, description: CloudAnswer<ServiceDescription | undefined>): Finding[] {
  const [state, loss] = uses[service];
  if ("error" in description)
    return [
      {
        feature: service,
        state,
        because: `it does not respond: ${description.error}`,
        todo: "Check the service's endpoint and that it is up.",
      },
    ];
  if (description.value === undefined)
    return [{ feature: service, state, because: `the catalog has none in this region: ${loss}` }];
  return [{ feature: service, state: "works", because: newest(description.value) }];
}

function newest({ versions }: ServiceDescription): string {
  const current = versions.find((v) => /^(current|stable)$/i.test(v.status)) ?? versions.at(-1);
  if (current === undefined) return "it reports no versions";
  return current.maximum === undefined ? current.id : `${current.id}, microversions up to ${current.maximum}`;
}

/** Tokens and certificates go wrong when clocks differ by minutes. */
const tolerated = 30_000;

function clocks(descriptions: CloudFacts["services"]): Finding {
  const skews = services.flatMap((service) => {
    const one = descriptions[service];
    const skew = "value" in one ? one.value?.skew : undefined;
    return skew === undefined ? [] : [{ service, skew }];
  });
  const worst = skews.toSorted((a, b) => Math.abs(b.skew) - Math.abs(a.skew))[0];
  const feature = "clocks";
  if (worst === undefined) return { feature, state: "limited", because: "no service reports its time" };
  if (Math.abs(worst.skew) <= tolerated)
    return { feature, state: "works", because: "this host's and the services' are the same to 30 s" };
  const seconds = Math.abs(Math.round(worst.skew / 1_000));
  const because = `${worst.service} is ${seconds} s ${worst.skew > 0 ? "ahead of" : "behind"} this host`;
  return {
    feature,
    state: "broken",
    because,
    todo: "Synchronise both clocks with NTP: otherwise tokens and certificates expire too early.",
  };
}

function externalNetworks({ externalNetworks: asked }: CloudFacts): Finding {
  const feature = "external networks";
  if ("error" in asked) return { feature, state: "limited", because: `they cannot be listed: ${asked.error}` };
  const [first, ...more] = asked.value;
  if (first === undefined)
    return {
      feature,
      state: "limited",
      because: "no external network exists: Services are internal, and machines have no internet access",
      todo: "Request one from the cloud's operator, or set internal-lb=true.",
    };
  const because =
    more.length === 0 ? `one is available: ${first}` : `${asked.value.length} are available: ${asked.value.join(", ")}`;
  const todo = "Set floating-network-id; without it, the first network with an IPv4 subnet is used.";
  return { feature, state: "works", because, ...(more.length === 0 ? {} : { todo }) };
}

function neutron(asked: CloudFacts["extensions"]): Finding[] {
  if ("error" in asked) return [{ feature: "network extensions", state: "limited", because: asked.error }];
  const has = (alias: string) => asked.value.has(alias);
  return [routes(has), safeWrites(has), ports(has)];
}

function routes(has: (alias: string) => boolean): Finding {
  const feature = "routes to pods";
  if (has("extraroute-atomic"))
    return { feature, state: "works", because: "Neutron adds and removes routes atomically" };
  if (has("extraroute"))
    return {
      feature,
      state: "limited",
      because: "Neutron has no extraroute-atomic: the router's whole list is read and written, held by its revision",
    };
  return {
    feature,
    state: "missing",
    because: "Neutron has no extraroute",
    todo: "Use a network plugin with an overlay.",
  };
}

function safeWrites(has: (alias: string) => boolean): Finding {
  const feature = "concurrent writes";
  if (has("revision-if-match"))
    return { feature, state: "works", because: "Neutron refuses a write to an object that has changed" };
  const because = "Neutron has no revision-if-match: concurrent writers of one port or router may overwrite each other";
  return {
    feature,
    state: "limited",
    because,
    todo: "Make sure that no other program writes security groups or address pairs of nodes' ports.",
  };
}

function ports(has: (alias: string) => boolean): Finding {
  const feature = "pods' addresses on ports";
  if (has("allowed-address-pairs")) return { feature, state: "works", because: "Neutron has allowed address pairs" };
  const because = "Neutron has no allowed-address-pairs";
  return { feature, state: "limited", because, todo: "Disable port security on networks that route pods." };
}
