import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { made, network, subnet } from "./made.ts";

/** Lists of Octavia that need a load balancer of amphorae. */

const elsewhere = (each: RawCase): RawCase => ({ ...each, service: "network", as: "member" });
const settles = (after: string): RawCase => ({
  says: `the load balancer is active after ${after}`,
  call: "GET /v2/lbaas/loadbalancers/{lb}",
  until: { field: "loadbalancer.provisioning_status", is: ["ACTIVE", "ERROR"] },
});
const part = (path: string, one: string, keep: string, body: object): readonly RawCase[] => [
  { says: `a ${one}`, call: `POST /v2/lbaas/${path}`, body: { [one]: body }, keep: { [keep]: `${one}.id` } },
  settles(`the ${one}`),
];

const balanced: readonly RawCase[] = [
  elsewhere(network),
  elsewhere(subnet),
  made({
    path: "/v2/lbaas/loadbalancers",
    one: "loadbalancer",
    body: { name: "{run}-lb", vip_subnet_id: "{sub}", provider: "amphora" },
    keep: "lb",
    more: { as: "member", undo: "DELETE /v2/lbaas/loadbalancers/{lb}?cascade=true" },
  }),
  settles("its creation"),
];
const policies: readonly RawCase[] = [
  ...balanced,
  ...part("listeners", "listener", "listener", { loadbalancer_id: "{lb}", protocol: "HTTP", protocol_port: 80 }),
  ...part("l7policies", "l7policy", "policy", {
    listener_id: "{listener}",
    name: "{run}-p",
    description: "{run}",
    action: "REDIRECT_TO_URL",
    redirect_url: "http://example.org/{run}",
    tags: ["{run}"],
  }),
];

export const policyLists: readonly FilteredList[] = [
  {
    service: "load-balancer",
    path: "/v2/lbaas/l7policies",
    many: "l7policies",
    as: "member",
    make: [...policies, { says: "the policy", call: "GET /v2/lbaas/l7policies/{policy}", keep: { id: "l7policy.id" } }],
  },
  {
    service: "load-balancer",
    path: "/v2/lbaas/l7policies/{policy}/rules",
    many: "rules",
    as: "member",
    make: [
      ...policies,
      ...part("l7policies/{policy}/rules", "rule", "id", {
        type: "HEADER",
        compare_type: "EQUAL_TO",
        key: "x-{run}",
        value: "{run}",
        tags: ["{run}"],
      }),
    ],
  },
  {
    service: "load-balancer",
    path: "/v2/octavia/amphorae",
    many: "amphorae",
    as: "admin",
    make: [
      ...balanced,
      {
        says: "an amphora",
        call: "GET /v2/octavia/amphorae?loadbalancer_id={lb}",
        as: "admin",
        keep: { id: "amphorae.0.id" },
      },
    ],
  },
];
