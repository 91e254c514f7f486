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
        says: "a resource provider is created",
        call: "POST /resource_providers",
        body: { name: "{run}-p" },
        as,
        headers,
        keep: { p: "uuid" },
        undo: "DELETE /resource_providers/{p}",
      },
      {
        says: "an inventory is created",
        call: `POST ${inventories}`,
        body: { resource_class: "DISK_GB", total: 10, step_size: 2 },
        as,
        headers,
        exact: ["total", "step_size", "resource_provider_generation"],
      },
      {
        says: "a second inventory of the same class is rejected",
        call: `POST ${inventories}`,
        body: { resource_class: "DISK_GB", total: 10 },
        as,
        headers,
        statusOnly: true,
      },
      {
        says: "an inventory with an old generation is created",
        call: `POST ${inventories}`,
        body: { resource_class: "VCPU", total: 4, resource_provider_generation: 0 },
        as,
        headers,
        exact: ["resource_provider_generation"],
      },
      {
        says: "an inventory of an unknown class is rejected",
        call: `POST ${inventories}`,
        body: { resource_class: "CUSTOM_NOPE", total: 1 },
        as,
        headers,
      },
      {
        says: "an inventory without a class is rejected",
        call: `POST ${inventories}`,
        body: { total: 1 },
        as,
        headers,
        statusOnly: true,
      },
      {
        says: "an inventory with a total of zero is rejected",
        call: `POST ${inventories}`,
        body: { resource_class: "MEMORY_MB", total: 0 },
        as,
        headers,
        statusOnly: true,
      },
      {
        says: "an inventory that reserves more than its total is rejected",
        call: `POST ${inventories}`,
        body: { resource_class: "MEMORY_MB", total: 1, reserved: 2 },
        as,
        headers,
        statusOnly: true,
      },
      {
        says: "a member creates no inventory",
        call: `POST ${inventories}`,
        body: { resource_class: "VCPU", total: 1 },
        headers,
      },
      { says: "the inventories of a provider are listed", call: `GET ${inventories}`, as, headers },
      { says: "an inventory is shown", call: `GET ${inventories}/VCPU`, as, headers, exact: ["total"] },
      { says: "a missing inventory is not found", call: `GET ${inventories}/MEMORY_MB`, as, headers, statusOnly: true },
      { says: "an inventory is deleted", call: `DELETE ${inventories}/VCPU`, as, headers },
      {
        says: "a deleted inventory is not deleted again",
        call: `DELETE ${inventories}/VCPU`,
        as,
        headers,
        statusOnly: true,
      },
    ],
  },
];
