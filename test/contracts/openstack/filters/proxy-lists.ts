import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { as, external, group, made, network, subnet } from "./made.ts";
import { image, member, nova, proxied, there, volume } from "./nova.ts";

/** Lists of other services that Nova served until 2.36. */

const old = (list: FilteredList): FilteredList => ({ ...list, headers: proxied });
const ownNetwork: readonly RawCase[] = [
  member(network),
  member(subnet),
  { says: "the network", service: "network", call: "GET /v2.0/networks/{net}", keep: { id: "network.id" } },
];

const imageFilters: FilteredList["more"] = {
  name: ["cirros", "{run}"],
  status: ["ACTIVE", "SAVING"],
  minRam: ["0", "1"],
  minDisk: ["0", "1"],
  type: ["base", "snapshot"],
  "changes-since": ["2020-01-01T00:00:00", "2100-01-01T00:00:00"],
};
const cirros: readonly RawCase[] = [image, there("/images/{image}", "image.id", { as: "member", headers: proxied })];
const snapshot: readonly RawCase[] = [
  ...volume,
  made({
    path: "/snapshots",
    one: "snapshot",
    body: { name: "{run}-p", description: "{run}", volume_id: "{volume}" },
    more: { as: "member", service: "volumev3" },
  }),
  {
    says: "the snapshot is available",
    service: "volumev3",
    call: "GET /snapshots/{id}",
    until: { field: "snapshot.status", is: ["available", "error"] },
  },
];

export const proxyLists: readonly FilteredList[] = [
  old(nova("/images/detail", "images", cirros, imageFilters)),
  { ...old(nova("/images", "images", cirros, imageFilters)), detail: "/images/detail" },
  old(nova("/os-snapshots/detail", "snapshots", snapshot)),
  { ...old(nova("/os-snapshots", "snapshots", snapshot)), detail: "/os-snapshots/detail" },
  old(
    nova("/os-floating-ips", "floating_ips", [
      { ...external, service: "network" },
      member(
        made({
          path: "/v2.0/floatingips",
          one: "floatingip",
          body: { floating_network_id: "{public}", description: "{run}" },
        }),
      ),
    ]),
  ),
  {
    ...old(
      nova("/os-floating-ip-pools", "floating_ip_pools", [
        there("/os-floating-ip-pools", "floating_ip_pools.0.name", { as: "member", headers: proxied }),
      ]),
    ),
    idField: "name",
  },
  old(nova("/os-networks", "networks", ownNetwork)),
  old(nova("/os-tenant-networks", "networks", ownNetwork)),
  old(nova("/os-security-groups", "security_groups", [member(as(group))], { all_tenants: ["0", "1"] })),
  old(nova("/os-volumes/detail", "volumes", volume)),
  { ...old(nova("/os-volumes", "volumes", volume)), detail: "/os-volumes/detail" },
];
