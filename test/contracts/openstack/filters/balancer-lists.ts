import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { made, network, subnet } from "./made.ts";
import { offerLists } from "./offer-lists.ts";
import { policyLists } from "./policy-lists.ts";

const balancer: RawCase = {
  ...made({
    path: "/v2/lbaas/loadbalancers",
    one: "loadbalancer",
    body: {
      name: "{run}-lb",
      description: "{run}",
      vip_network_id: "{net}",
      provider: "ovn",
      tags: ["{run}"],
      listeners: [
        {
          name: "{run}-l",
          protocol: "TCP",
          protocol_port: 80,
          default_pool: {
            name: "{run}-p",
            protocol: "TCP",
            lb_algorithm: "SOURCE_IP_PORT",
            members: [{ name: "{run}-m", address: "10.61.0.99", protocol_port: 81 }],
          },
        },
      ],
    },
    keep: "lb",
    more: { as: "member", undo: "DELETE /v2/lbaas/loadbalancers/{lb}?cascade=true" },
  }),
};
const elsewhere = (each: RawCase): RawCase => ({ ...each, service: "network", as: "member" });
const balanced: readonly RawCase[] = [
  elsewhere(network),
  elsewhere(subnet),
  balancer,
  {
    says: "the load balancer is active",
    call: "GET /v2/lbaas/loadbalancers/{lb}",
    until: { field: "loadbalancer.provisioning_status", is: ["ACTIVE", "ERROR"] },
    keep: { listener: "loadbalancer.listeners.0.id", pool: "loadbalancer.pools.0.id" },
  },
];
const octavia = (path: string, many: string, find: RawCase): FilteredList => ({
  service: "load-balancer",
  path: `/v2/lbaas/${path}`,
  many,
  make: [...balanced, find],
  as: "member",
});

export const balancerLists: readonly FilteredList[] = [
  octavia("loadbalancers", "loadbalancers", {
    says: "the load balancer",
    call: "GET /v2/lbaas/loadbalancers/{lb}",
    keep: { id: "loadbalancer.id" },
  }),
  octavia("listeners", "listeners", {
    says: "the listener",
    call: "GET /v2/lbaas/listeners/{listener}",
    keep: { id: "listener.id" },
  }),
  octavia("pools", "pools", { says: "the pool", call: "GET /v2/lbaas/pools/{pool}", keep: { id: "pool.id" } }),
  octavia("pools/{pool}/members", "members", {
    says: "the member",
    call: "GET /v2/lbaas/pools/{pool}/members",
    keep: { id: "members.0.id" },
  }),
  octavia("healthmonitors", "healthmonitors", {
    says: "a monitor",
    call: "POST /v2/lbaas/healthmonitors",
    body: { healthmonitor: { name: "{run}-h", pool_id: "{pool}", type: "TCP", delay: 7, timeout: 5, max_retries: 3 } },
    keep: { id: "healthmonitor.id" },
  }),
  ...policyLists,
  ...offerLists,
];
