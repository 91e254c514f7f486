import type { RawCase, RawGroup } from "../case.ts";
import { collectionCases } from "./collection-cases.ts";

const base = "/v2.0/lbaas";
const settledNow: RawCase["until"] = { field: "loadbalancer.provisioning_status", is: ["ACTIVE", "ERROR"] };
const settledAfter = (what: string): RawCase => ({
  says: `the load balancer becomes active after ${what}`,
  call: `GET ${base}/loadbalancers/{l}`,
  until: settledNow,
  exact: ["loadbalancer.provisioning_status"],
});

function balancer(provider: string): readonly RawCase[] {
  return [
    {
      says: "a load balancer without a VIP is rejected",
      call: `POST ${base}/loadbalancers`,
      body: { loadbalancer: { name: "x", provider } },
    },
    {
      says: "a load balancer of an unknown provider is rejected",
      call: `POST ${base}/loadbalancers`,
      body: { loadbalancer: { name: "x", provider: "wrong", vip_subnet_id: "{nothing}" } },
    },
    {
      says: "a load balancer on a missing subnet is rejected",
      call: `POST ${base}/loadbalancers`,
      body: { loadbalancer: { name: "x", provider, vip_subnet_id: "{nothing}" } },
    },
    {
      says: "an unknown attribute of a load balancer is rejected",
      call: `POST ${base}/loadbalancers`,
      body: { loadbalancer: { wrong: 1 } },
    },
  ];
}

export const loadBalancerGroups: readonly RawGroup[] = [
  {
    name: "every collection",
    service: "load-balancer",
    cases: [
      { says: "Octavia lists its versions", call: "GET ^/", statusOnly: true },
      ...["loadbalancer", "listener", "pool", "healthmonitor"].flatMap((one) =>
        collectionCases({ path: `${base}/${one}s`, one, change: "PUT" }),
      ),
      ...collectionCases({ path: `${base}/l7policies`, one: "l7policy", change: "PUT" }),
      ...collectionCases({ path: `${base}/flavors`, one: "flavor", without: ["create", "delete"] }),
      ...collectionCases({
        path: `${base}/availabilityzones`,
        one: "availability_zone",
        without: ["create", "delete"],
      }),
      ...balancer("ovn"),
      { says: "the providers of load balancers are listed", call: `GET ${base}/providers`, statusOnly: true },
      { says: "a member does not list flavor profiles", call: `GET ${base}/flavorprofiles` },
      {
        says: "a member creates no flavor",
        call: `POST ${base}/flavors`,
        body: { flavor: { name: "x", flavor_profile_id: "{nothing}" } },
      },
      { says: "a member does not list amphorae", call: "GET /v2.0/octavia/amphorae" },
      { says: "the quotas of load balancers are shown", call: `GET ${base}/quotas/{project}`, statusOnly: true },
      { says: "a member is not shown quotas of another project", call: `GET ${base}/quotas/{altProject}` },
      { says: "a member sets no quotas", call: `PUT ${base}/quotas/{project}`, body: { quota: { loadbalancer: 1 } } },
      { says: "a member is not shown the default quotas", call: `GET ${base}/quotas/defaults`, statusOnly: true },
      { says: "an unknown path is not found", call: `GET ${base}/nonsense` },
      { says: "a missing marker of load balancers is rejected", call: `GET ${base}/loadbalancers?marker={nothing}` },
      { says: "a limit of load balancers that is no number is rejected", call: `GET ${base}/loadbalancers?limit=x` },
      { says: "an unknown sort key of load balancers is rejected", call: `GET ${base}/loadbalancers?sort=wrong` },
      {
        says: "the statistics of a missing load balancer are not found",
        call: `GET ${base}/loadbalancers/{nothing}/stats`,
      },
      {
        says: "the status tree of a missing load balancer is not found",
        call: `GET ${base}/loadbalancers/{nothing}/status`,
      },
      {
        says: "a missing load balancer is not failed over",
        call: `PUT ${base}/loadbalancers/{nothing}/failover`,
        as: "admin",
      },
      {
        says: "a member does not fail over a missing load balancer",
        call: `PUT ${base}/loadbalancers/{nothing}/failover`,
      },
    ],
  },
  {
    name: "a load balancer of provider ovn",
    service: "load-balancer",
    cases: [
      {
        says: "a network for a load balancer is created",
        service: "network",
        call: "POST /v2.0/networks",
        body: { network: { name: "{run}-n" } },
        keep: { n: "network.id" },
        undo: "DELETE /v2.0/networks/{n}",
      },
      {
        says: "a subnet for a load balancer is created",
        service: "network",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.94.0.0/24" } },
        keep: { subnet: "subnet.id" },
        undo: "DELETE /v2.0/subnets/{subnet}",
      },
      {
        says: "a load balancer is created",
        call: `POST ${base}/loadbalancers`,
        body: { loadbalancer: { name: "{run}-l", provider: "ovn", vip_subnet_id: "{subnet}", tags: ["b", "a"] } },
        keep: { l: "loadbalancer.id" },
        // Not how far it is: the answers are read after the driver was called, which may be quick.
        exact: ["loadbalancer.provider", "loadbalancer.tags"],
        undo: `DELETE ${base}/loadbalancers/{l}?cascade=true`,
      },
      settledAfter("its creation"),
      {
        says: "a load balancer is found by its name",
        call: `GET ${base}/loadbalancers?name={run}-l&fields=name`,
        exact: ["loadbalancers"],
      },
      {
        says: "a load balancer is found by its tag",
        call: `GET ${base}/loadbalancers?tags=a&name={run}-l&fields=name`,
        exact: ["loadbalancers"],
      },
      { says: "a load balancer is shown with selected fields", call: `GET ${base}/loadbalancers/{l}?fields=name` },
      { says: "a load balancer is not shown to another project", call: `GET ${base}/loadbalancers/{l}`, as: "alt" },
      {
        says: "a reader does not rename a load balancer",
        call: `PUT ${base}/loadbalancers/{l}`,
        body: { loadbalancer: { name: "x" } },
        as: "reader",
      },
      {
        says: "the provider of a load balancer is not changed",
        call: `PUT ${base}/loadbalancers/{l}`,
        body: { loadbalancer: { provider: "amphora" } },
      },
      {
        says: "the VIP of a load balancer is not changed",
        call: `PUT ${base}/loadbalancers/{l}`,
        body: { loadbalancer: { vip_address: "10.94.0.9" } },
      },
      {
        says: "a listener is created",
        call: `POST ${base}/listeners`,
        body: { listener: { name: "{run}-s", loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 80 } },
        keep: { s: "listener.id" },
        exact: ["listener.connection_limit", "listener.timeout_client_data"],
      },
      settledAfter("the creation of a listener"),
      {
        says: "a second listener on the same port is rejected",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 80 } },
      },
      {
        says: "an HTTP listener is rejected by provider ovn",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "HTTP", protocol_port: 81 } },
      },
      {
        says: "a listener of an unknown protocol is rejected",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "WRONG", protocol_port: 81 } },
      },
      {
        says: "a listener on port zero is rejected",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 0 } },
      },
      {
        says: "a listener without a port is rejected",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "TCP" } },
      },
      {
        says: "a listener of a missing load balancer is rejected",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{nothing}", protocol: "TCP", protocol_port: 81 } },
      },
      {
        says: "a listener with allowed CIDRs is rejected by provider ovn",
        call: `POST ${base}/listeners`,
        body: {
          listener: { loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 82, allowed_cidrs: ["10.0.0.0/8"] },
        },
      },
      {
        says: "a listener with a missing pool is rejected",
        call: `POST ${base}/listeners`,
        body: {
          listener: { loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 83, default_pool_id: "{nothing}" },
        },
      },
      {
        says: "the port of a listener is not changed",
        call: `PUT ${base}/listeners/{s}`,
        body: { listener: { protocol_port: 90 } },
      },
      {
        says: "a pool is created",
        call: `POST ${base}/pools`,
        body: { pool: { name: "{run}-p", listener_id: "{s}", protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" } },
        keep: { p: "pool.id" },
        exact: ["pool.session_persistence", "pool.members"],
      },
      settledAfter("the creation of a pool"),
      {
        says: "a second pool of a listener is rejected",
        call: `POST ${base}/pools`,
        body: { pool: { listener_id: "{s}", protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" } },
      },
      {
        says: "a pool of an algorithm that provider ovn does not support is rejected",
        call: `POST ${base}/pools`,
        body: { pool: { loadbalancer_id: "{l}", protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } },
      },
      {
        says: "a pool of an unknown algorithm is rejected",
        call: `POST ${base}/pools`,
        body: { pool: { loadbalancer_id: "{l}", protocol: "TCP", lb_algorithm: "WRONG" } },
      },
      {
        says: "a pool without a listener or load balancer is rejected",
        call: `POST ${base}/pools`,
        body: { pool: { protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" } },
      },
      {
        says: "an HTTP pool is rejected by provider ovn",
        call: `POST ${base}/pools`,
        body: { pool: { loadbalancer_id: "{l}", protocol: "HTTP", lb_algorithm: "SOURCE_IP_PORT" } },
      },
      {
        says: "a member is added to a pool",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { name: "{run}-m", address: "10.94.0.50", protocol_port: 8080, subnet_id: "{subnet}" } },
        keep: { m: "member.id" },
        exact: ["member.weight", "member.operating_status", "member.backup"],
      },
      settledAfter("the creation of a member"),
      {
        says: "a duplicate member is rejected",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { address: "10.94.0.50", protocol_port: 8080, subnet_id: "{subnet}" } },
      },
      {
        says: "a member without an address is rejected",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { protocol_port: 8080 } },
      },
      {
        says: "a member with a malformed address is rejected",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { address: "wrong", protocol_port: 8080 } },
      },
      {
        says: "a member with a weight above 256 is rejected",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { address: "10.94.0.51", protocol_port: 8080, weight: 300 } },
      },
      { says: "a missing member is not found", call: `GET ${base}/pools/{p}/members/{nothing}` },
      { says: "the members of a pool are listed", call: `GET ${base}/pools/{p}/members`, exact: ["members.0.name"] },
      {
        says: "an HTTP health monitor is rejected by provider ovn",
        call: `POST ${base}/healthmonitors`,
        body: { healthmonitor: { pool_id: "{p}", type: "HTTP", delay: 5, timeout: 3, max_retries: 2 } },
      },
      {
        says: "a health monitor with a timeout above its delay is accepted",
        call: `POST ${base}/healthmonitors`,
        body: { healthmonitor: { pool_id: "{p}", type: "TCP", delay: 3, timeout: 5, max_retries: 2 } },
      },
      settledAfter("the creation of a health monitor"),
      {
        says: "a health monitor with too many retries is rejected",
        call: `POST ${base}/healthmonitors`,
        body: { healthmonitor: { pool_id: "{p}", type: "TCP", delay: 5, timeout: 3, max_retries: 11 } },
      },
      {
        says: "a health monitor of a missing pool is rejected",
        call: `POST ${base}/healthmonitors`,
        body: { healthmonitor: { pool_id: "{nothing}", type: "TCP", delay: 5, timeout: 3, max_retries: 2 } },
      },
      {
        says: "an L7 policy is rejected by provider ovn",
        call: `POST ${base}/l7policies`,
        body: { l7policy: { listener_id: "{s}", action: "REJECT" } },
      },
      {
        says: "an L7 policy of an unknown action is rejected",
        call: `POST ${base}/l7policies`,
        body: { l7policy: { listener_id: "{s}", action: "WRONG" } },
      },
      {
        says: "the status tree of a load balancer is shown",
        call: `GET ${base}/loadbalancers/{l}/status`,
        statusOnly: true,
      },
      { says: "the statistics of a load balancer are shown", call: `GET ${base}/loadbalancers/{l}/stats` },
      {
        says: "a load balancer with children is not deleted without cascade",
        call: `DELETE ${base}/loadbalancers/{l}`,
      },
      { says: "a listener is deleted", call: `DELETE ${base}/listeners/{s}` },
      settledAfter("the deletion of a listener"),
      {
        says: "a deleted listener is not found",
        call: `GET ${base}/listeners/{s}`,
        until: { field: "listener.provisioning_status", is: ["gone"] },
      },
    ],
  },
];
