import type { RawGroup } from "../case.ts";

const headers = { "openstack-api-version": "placement 1.20" };
const inventories = "/resource_providers/{p}/inventories";
const as = "admin";

export const placementGroups: readonly RawGroup[] = [
  {
    name: "inventories",
    service: "placement",
    cases: [
      {
        says: "makes a provider",
        call: "POST /resource_providers",
        body: { name: "{run}-p" },
        as,
        headers,
        keep: { p: "uuid" },
        undo: "DELETE /resource_providers/{p}",
      },
      {
        says: "is given one inventory",
        call: `POST ${inventories}`,
        body: { resource_class: "DISK_GB", total: 10, step_size: 2 },
        as,
        headers,
        exact: ["total", "step_size", "resource_provider_generation"],
      },
      {
        says: "is given it twice",
        call: `POST ${inventories}`,
        body: { resource_class: "DISK_GB", total: 10 },
        as,
        headers,
        statusOnly: true,
      },
      {
        says: "is given another, by who knows an old generation",
        call: `POST ${inventories}`,
        body: { resource_class: "VCPU", total: 4, resource_provider_generation: 0 },
        as,
        headers,
        exact: ["resource_provider_generation"],
      },
      {
        says: "is given one of a class that is not there",
        call: `POST ${inventories}`,
        body: { resource_class: "CUSTOM_NOPE", total: 1 },
        as,
        headers,
      },
      {
        says: "is given one without a class",
        call: `POST ${inventories}`,
        body: { total: 1 },
        as,
        headers,
        statusOnly: true,
      },
      {
        says: "is given one of nothing",
        call: `POST ${inventories}`,
        body: { resource_class: "MEMORY_MB", total: 0 },
        as,
        headers,
        statusOnly: true,
      },
      {
        says: "is given one that reserves more than there is",
        call: `POST ${inventories}`,
        body: { resource_class: "MEMORY_MB", total: 1, reserved: 2 },
        as,
        headers,
        statusOnly: true,
      },
      {
        says: "is given one by a member",
        call: `POST ${inventories}`,
        body: { resource_class: "VCPU", total: 1 },
        headers,
      },
      { says: "the inventories", call: `GET ${inventories}`, as, headers },
      { says: "one inventory", call: `GET ${inventories}/VCPU`, as, headers, exact: ["total"] },
      { says: "an inventory that it has not", call: `GET ${inventories}/MEMORY_MB`, as, headers, statusOnly: true },
      { says: "loses one", call: `DELETE ${inventories}/VCPU`, as, headers },
      { says: "loses it twice", call: `DELETE ${inventories}/VCPU`, as, headers, statusOnly: true },
    ],
  },
];
