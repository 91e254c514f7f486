import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { made } from "./made.ts";

/** Lists of what Octavia offers: providers, flavors and zones, with their profiles; and quotas. */

const octavia = (path: string, many: string, make: readonly RawCase[], idField = "id"): FilteredList => ({
  service: "load-balancer",
  path: `/v2/lbaas/${path}`,
  many,
  make,
  idField,
  as: "admin",
});

const amphora: RawCase = {
  says: "a provider",
  call: "GET /v2/lbaas/providers",
  as: "admin",
  keep: { amphora: "providers.0.name" },
};
const profile = made({
  path: "/v2/lbaas/flavorprofiles",
  one: "flavorprofile",
  body: { name: "{run}-fp", provider_name: "amphora", flavor_data: '{"loadbalancer_topology": "SINGLE"}' },
  keep: "profile",
});
const zoneProfile = made({
  path: "/v2/lbaas/availabilityzoneprofiles",
  one: "availability_zone_profile",
  body: { name: "{run}-zp", provider_name: "amphora", availability_zone_data: '{"compute_zone": "nova"}' },
  keep: "profile",
});
const listed = (path: string, one: string): RawCase => ({
  says: "it is there",
  call: `GET /v2/lbaas/${path}/{profile}`,
  as: "admin",
  keep: { id: `${one}.id` },
});

export const offerLists: readonly FilteredList[] = [
  octavia("flavorprofiles", "flavorprofiles", [profile, listed("flavorprofiles", "flavorprofile")]),
  octavia("flavors", "flavors", [
    profile,
    made({
      path: "/v2/lbaas/flavors",
      one: "flavor",
      body: { name: "{run}-f", description: "{run}", flavor_profile_id: "{profile}", enabled: true },
    }),
  ]),
  octavia("availabilityzoneprofiles", "availability_zone_profiles", [
    zoneProfile,
    listed("availabilityzoneprofiles", "availability_zone_profile"),
  ]),
  octavia(
    "availabilityzones",
    "availability_zones",
    [
      zoneProfile,
      {
        says: "a zone",
        call: "POST /v2/lbaas/availabilityzones",
        as: "admin",
        body: {
          availability_zone: {
            name: "{run}-z",
            description: "{run}",
            availability_zone_profile_id: "{profile}",
            enabled: true,
          },
        },
        keep: { id: "availability_zone.name" },
        undo: "DELETE /v2/lbaas/availabilityzones/{id}",
      },
    ],
    "name",
  ),
  octavia(
    "providers",
    "providers",
    [{ says: "a provider", call: "GET /v2/lbaas/providers", as: "admin", keep: { id: "providers.0.name" } }],
    "name",
  ),
  octavia(
    "providers/{amphora}/flavor_capabilities",
    "flavor_capabilities",
    [
      amphora,
      {
        says: "a capability",
        call: "GET /v2/lbaas/providers/amphora/flavor_capabilities",
        as: "admin",
        keep: { id: "flavor_capabilities.0.name" },
      },
    ],
    "name",
  ),
  octavia(
    "providers/{amphora}/availability_zone_capabilities",
    "availability_zone_capabilities",
    [
      amphora,
      {
        says: "a capability",
        call: "GET /v2/lbaas/providers/amphora/availability_zone_capabilities",
        as: "admin",
        keep: { id: "availability_zone_capabilities.0.name" },
      },
    ],
    "name",
  ),
  octavia(
    "quotas",
    "quotas",
    [
      {
        says: "a quota",
        call: "PUT /v2/lbaas/quotas/{altProject}",
        as: "admin",
        body: { quota: { load_balancer: 77 } },
        undo: "DELETE /v2/lbaas/quotas/{altProject}",
      },
      {
        says: "it is listed",
        call: "GET /v2/lbaas/quotas?project_id={altProject}",
        as: "admin",
        keep: { id: "quotas.0.project_id" },
      },
    ],
    "project_id",
  ),
];
