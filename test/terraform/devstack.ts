/**
 * What the acceptance tests expect of a cloud because devstack and upstream's own script make it; deleted after a run.
 */
import type { CloudConfig } from "@causeway/openstack";
import { at } from "../contracts/openstack/shape.ts";
import { openApi, type Api } from "../latency/api.ts";

interface Expected {
  readonly service: string;
  readonly path: string;
  readonly body: (api: Api) => Promise<object> | object;
  /** Where the response has the ID. */
  readonly id: string;
}

const flavor = (id: string, name: string, disk: number): Expected => ({
  service: "compute",
  path: "/flavors",
  body: () => ({ flavor: { id, name, ram: 512, disk, vcpus: 1, "OS-FLV-EXT-DATA:ephemeral": 10 } }),
  id: "flavor.id",
});

const expected: readonly Expected[] = [
  flavor("99", "m1.acctest", 10),
  flavor("98", "m1.resize", 11),
  {
    service: "load-balancer",
    path: "/v2/lbaas/flavorprofiles",
    body: () => ({
      flavorprofile: {
        name: "lb.acctest",
        provider_name: "amphora",
        flavor_data: JSON.stringify({ loadbalancer_topology: "SINGLE" }),
      },
    }),
    id: "flavorprofile.id",
  },
  {
    service: "load-balancer",
    path: "/v2/lbaas/flavors",
    body: async (api) => {
      const path = "GET /v2/lbaas/flavorprofiles?name=lb.acctest";
      const profile = at(await api.send("load-balancer", path), "flavorprofiles.0.id");
      return { flavor: { name: "lb.acctest", flavor_profile_id: profile, enabled: true } };
    },
    id: "flavor.id",
  },
  { service: "identity", path: "/groups", body: () => ({ group: { name: "admins" } }), id: "group.id" },
  {
    service: "identity",
    path: "/registered_limits",
    body: async (api) => {
      const service = at(await api.send("identity", "GET /services?name=glance"), "services.0.id");
      const limit = { service_id: service, region_id: "RegionOne", resource_name: "image_count_total" };
      return { registered_limits: [{ ...limit, default_limit: 100 }] };
    },
    id: "registered_limits.0.id",
  },
  {
    service: "network",
    path: "/v2.0/subnets",
    body: async (api) => {
      const network = at(await api.send("network", "GET /v2.0/networks?name=public"), "networks.0.id");
      const range = { ip_version: 6, cidr: "2001:db8::/64", gateway_ip: "2001:db8::2", enable_dhcp: false };
      return { subnet: { name: "ipv6-public-subnet", network_id: network, ...range } };
    },
    id: "subnet.id",
  },
];

/** Creates it as the administrator; the result deletes it, the last first. */
export async function makeExpected(administrator: CloudConfig): Promise<() => Promise<void>> {
  const api = await openApi(administrator);
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of undo.toReversed()) await each();
  };
  try {
    for (const { service, path, body, id } of expected) {
      const made = String(at(await api.send(service, `POST ${path}`, await body(api)), id));
      undo.push(() => api.send(service, `DELETE ${path}/${made}`));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}
