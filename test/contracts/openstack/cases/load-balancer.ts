import type { RawCase, RawGroup } from "../case.ts";
import { collectionCases } from "./collection-cases.ts";

const base = "/v2.0/lbaas";
const settledNow: RawCase["until"] = { field: "loadbalancer.provisioning_status", is: ["ACTIVE", "ERROR"] };
const settledAfter = (what: string): RawCase => ({
  says: `settles after ${what}`,
  call: `GET ${base}/loadbalancers/{l}`,
  until: settledNow,
  exact: ["loadbalancer.provisioning_status"],
});

function balancer(provider: string): readonly RawCase[] {
  return [
    {
      says: "a balancer without a VIP",
      call: `POST ${base}/loadbalancers`,
      body: { loadbalancer: { name: "x", provider } },
    },
    {
      says: "a balancer of a provider that is none",
      call: `POST ${base}/loadbalancers`,
      body: { loadbalancer: { name: "x", provider: "wrong", vip_subnet_id: "{nothing}" } },
    },
    {
      says: "a balancer on no subnet",
      call: `POST ${base}/loadbalancers`,
      body: { loadbalancer: { name: "x", provider, vip_subnet_id: "{nothing}" } },
    },
    { says: "an attribute that is none", call: `POST ${base}/loadbalancers`, body: { loadbalancer: { wrong: 1 } } },
  ];
}

export const loadBalancerGroups: readonly RawGroup[] = [
  {
    name: "every collection",
    service: "load-balancer",
    cases: [
      { says: "the versions", call: "GET ^/", statusOnly: true },
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
      { says: "providers", call: `GET ${base}/providers`, statusOnly: true },
      { says: "flavor profiles by a member", call: `GET ${base}/flavorprofiles` },
      {
        says: "a flavor by a member",
        call: `POST ${base}/flavors`,
        body: { flavor: { name: "x", flavor_profile_id: "{nothing}" } },
      },
      { says: "amphorae by a member", call: "GET /v2.0/octavia/amphorae" },
      { says: "quotas", call: `GET ${base}/quotas/{project}`, statusOnly: true },
      { says: "quotas of another", call: `GET ${base}/quotas/{altProject}` },
      { says: "quotas by a member", call: `PUT ${base}/quotas/{project}`, body: { quota: { loadbalancer: 1 } } },
      { says: "default quotas", call: `GET ${base}/quotas/defaults`, statusOnly: true },
      { says: "a path that is not there", call: `GET ${base}/nonsense` },
      { says: "a marker that is not there", call: `GET ${base}/loadbalancers?marker={nothing}` },
      { says: "a wrong limit", call: `GET ${base}/loadbalancers?limit=x` },
      { says: "a wrong sort key", call: `GET ${base}/loadbalancers?sort=wrong` },
      { says: "statistics of none", call: `GET ${base}/loadbalancers/{nothing}/stats` },
      { says: "status of none", call: `GET ${base}/loadbalancers/{nothing}/status` },
      { says: "failover of none", call: `PUT ${base}/loadbalancers/{nothing}/failover`, as: "admin" },
      { says: "failover by a member", call: `PUT ${base}/loadbalancers/{nothing}/failover` },
    ],
  },
  {
    name: "a balancer of ovn",
    service: "load-balancer",
    cases: [
      {
        says: "a network",
        service: "network",
        call: "POST /v2.0/networks",
        body: { network: { name: "{run}-n" } },
        keep: { n: "network.id" },
        undo: "DELETE /v2.0/networks/{n}",
      },
      {
        says: "a subnet",
        service: "network",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.94.0.0/24" } },
        keep: { subnet: "subnet.id" },
        undo: "DELETE /v2.0/subnets/{subnet}",
      },
      {
        says: "a balancer",
        call: `POST ${base}/loadbalancers`,
        body: { loadbalancer: { name: "{run}-l", provider: "ovn", vip_subnet_id: "{subnet}", tags: ["b", "a"] } },
        keep: { l: "loadbalancer.id" },
        // Not how far it is: the answers are read after the driver was asked, which may be quick.
        exact: ["loadbalancer.provider", "loadbalancer.tags"],
        undo: `DELETE ${base}/loadbalancers/{l}?cascade=true`,
      },
      settledAfter("the create"),
      {
        says: "is found by its name",
        call: `GET ${base}/loadbalancers?name={run}-l&fields=name`,
        exact: ["loadbalancers"],
      },
      {
        says: "is found by its tag",
        call: `GET ${base}/loadbalancers?tags=a&name={run}-l&fields=name`,
        exact: ["loadbalancers"],
      },
      { says: "is shown in part", call: `GET ${base}/loadbalancers/{l}?fields=name` },
      { says: "is shown to a stranger", call: `GET ${base}/loadbalancers/{l}`, as: "alt" },
      {
        says: "is renamed by a reader",
        call: `PUT ${base}/loadbalancers/{l}`,
        body: { loadbalancer: { name: "x" } },
        as: "reader",
      },
      {
        says: "its provider is changed",
        call: `PUT ${base}/loadbalancers/{l}`,
        body: { loadbalancer: { provider: "amphora" } },
      },
      {
        says: "its VIP is changed",
        call: `PUT ${base}/loadbalancers/{l}`,
        body: { loadbalancer: { vip_address: "10.94.0.9" } },
      },
      {
        says: "a listener",
        call: `POST ${base}/listeners`,
        body: { listener: { name: "{run}-s", loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 80 } },
        keep: { s: "listener.id" },
        exact: ["listener.connection_limit", "listener.timeout_client_data"],
      },
      settledAfter("the listener"),
      {
        says: "a listener on the same port",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 80 } },
      },
      {
        says: "a listener of HTTP",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "HTTP", protocol_port: 81 } },
      },
      {
        says: "a listener of a protocol that is none",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "WRONG", protocol_port: 81 } },
      },
      {
        says: "a listener on port zero",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 0 } },
      },
      {
        says: "a listener on no port",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{l}", protocol: "TCP" } },
      },
      {
        says: "a listener of no balancer",
        call: `POST ${base}/listeners`,
        body: { listener: { loadbalancer_id: "{nothing}", protocol: "TCP", protocol_port: 81 } },
      },
      {
        says: "a listener with cidrs",
        call: `POST ${base}/listeners`,
        body: {
          listener: { loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 82, allowed_cidrs: ["10.0.0.0/8"] },
        },
      },
      {
        says: "a listener with a pool that is not there",
        call: `POST ${base}/listeners`,
        body: {
          listener: { loadbalancer_id: "{l}", protocol: "TCP", protocol_port: 83, default_pool_id: "{nothing}" },
        },
      },
      {
        says: "a listener's port is changed",
        call: `PUT ${base}/listeners/{s}`,
        body: { listener: { protocol_port: 90 } },
      },
      {
        says: "a pool",
        call: `POST ${base}/pools`,
        body: { pool: { name: "{run}-p", listener_id: "{s}", protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" } },
        keep: { p: "pool.id" },
        exact: ["pool.session_persistence", "pool.members"],
      },
      settledAfter("the pool"),
      {
        says: "a second pool of the listener",
        call: `POST ${base}/pools`,
        body: { pool: { listener_id: "{s}", protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" } },
      },
      {
        says: "a pool of an algorithm that the provider has not",
        call: `POST ${base}/pools`,
        body: { pool: { loadbalancer_id: "{l}", protocol: "TCP", lb_algorithm: "ROUND_ROBIN" } },
      },
      {
        says: "a pool of an algorithm that is none",
        call: `POST ${base}/pools`,
        body: { pool: { loadbalancer_id: "{l}", protocol: "TCP", lb_algorithm: "WRONG" } },
      },
      {
        says: "a pool of nothing",
        call: `POST ${base}/pools`,
        body: { pool: { protocol: "TCP", lb_algorithm: "SOURCE_IP_PORT" } },
      },
      {
        says: "a pool of HTTP",
        call: `POST ${base}/pools`,
        body: { pool: { loadbalancer_id: "{l}", protocol: "HTTP", lb_algorithm: "SOURCE_IP_PORT" } },
      },
      {
        says: "a member",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { name: "{run}-m", address: "10.94.0.50", protocol_port: 8080, subnet_id: "{subnet}" } },
        keep: { m: "member.id" },
        exact: ["member.weight", "member.operating_status", "member.backup"],
      },
      settledAfter("the member"),
      {
        says: "the same member",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { address: "10.94.0.50", protocol_port: 8080, subnet_id: "{subnet}" } },
      },
      {
        says: "a member without an address",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { protocol_port: 8080 } },
      },
      {
        says: "a member of an address that is none",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { address: "wrong", protocol_port: 8080 } },
      },
      {
        says: "a member of a weight too great",
        call: `POST ${base}/pools/{p}/members`,
        body: { member: { address: "10.94.0.51", protocol_port: 8080, weight: 300 } },
      },
      { says: "a member that is not there", call: `GET ${base}/pools/{p}/members/{nothing}` },
      { says: "members", call: `GET ${base}/pools/{p}/members`, exact: ["members.0.name"] },
      {
        says: "a monitor of HTTP",
        call: `POST ${base}/healthmonitors`,
        body: { healthmonitor: { pool_id: "{p}", type: "HTTP", delay: 5, timeout: 3, max_retries: 2 } },
      },
      {
        says: "a monitor of a timeout above its delay",
        call: `POST ${base}/healthmonitors`,
        body: { healthmonitor: { pool_id: "{p}", type: "TCP", delay: 3, timeout: 5, max_retries: 2 } },
      },
      settledAfter("the monitor"),
      {
        says: "a monitor of too many retries",
        call: `POST ${base}/healthmonitors`,
        body: { healthmonitor: { pool_id: "{p}", type: "TCP", delay: 5, timeout: 3, max_retries: 11 } },
      },
      {
        says: "a monitor of no pool",
        call: `POST ${base}/healthmonitors`,
        body: { healthmonitor: { pool_id: "{nothing}", type: "TCP", delay: 5, timeout: 3, max_retries: 2 } },
      },
      {
        says: "a policy",
        call: `POST ${base}/l7policies`,
        body: { l7policy: { listener_id: "{s}", action: "REJECT" } },
      },
      {
        says: "a policy of an action that is none",
        call: `POST ${base}/l7policies`,
        body: { l7policy: { listener_id: "{s}", action: "WRONG" } },
      },
      { says: "the status tree", call: `GET ${base}/loadbalancers/{l}/status`, statusOnly: true },
      { says: "statistics", call: `GET ${base}/loadbalancers/{l}/stats` },
      { says: "is deleted with children", call: `DELETE ${base}/loadbalancers/{l}` },
      { says: "a listener is deleted", call: `DELETE ${base}/listeners/{s}` },
      settledAfter("the deletion of the listener"),
      {
        says: "a listener is gone",
        call: `GET ${base}/listeners/{s}`,
        until: { field: "listener.provisioning_status", is: ["gone"] },
      },
    ],
  },
];
