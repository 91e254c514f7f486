import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";

const newest = { "openstack-api-version": "placement 1.39" };
const change = (says: string, call: string, body: object): RawCase => ({
  says,
  call,
  as: "admin",
  headers: newest,
  body,
});
const found = (path: string, id: string): RawCase => ({
  says: "one of them",
  call: `GET ${path}`,
  as: "admin",
  headers: newest,
  keep: { id },
});
const place = (
  path: string,
  many: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({
  service: "placement",
  path,
  many,
  make,
  more,
  as: "admin",
  headers: newest,
});

export const placementLists: readonly FilteredList[] = [
  {
    ...place(
      "/resource_providers",
      "resource_providers",
      [
        {
          says: "a provider",
          call: "POST /resource_providers",
          as: "admin",
          headers: newest,
          body: { name: "{run}-p" },
          keep: { id: "uuid" },
          undo: "DELETE /resource_providers/{id}",
        },
        change("of an aggregate", "PUT /resource_providers/{id}/aggregates", {
          aggregates: ["{nothing}"],
          resource_provider_generation: 0,
        }),
        change("of a trait", "PUT /resource_providers/{id}/traits", {
          traits: ["HW_CPU_X86_AVX2"],
          resource_provider_generation: 1,
        }),
        change("of an inventory", "PUT /resource_providers/{id}/inventories", {
          inventories: { VCPU: { total: 7 } },
          resource_provider_generation: 2,
        }),
      ],
      {
        in_tree: ["{id}", "{nothing}"],
        member_of: ["{nothing}", "7f0e2f1c-3b56-4a61-9d4c-5a0f4b3e2d11"],
        required: ["HW_CPU_X86_AVX2", "HW_CPU_X86_AVX512F"],
        resources: ["VCPU:7", "VCPU:8"],
      },
    ),
    idField: "uuid",
  },
  {
    ...place("/traits", "traits", [found("/traits?name=in:HW_CPU_X86_AVX2", "traits.0")], {
      name: ["startswith:HW_CPU", "startswith:STORAGE"],
      associated: ["false", "x"],
    }),
    idField: "name",
  },
  {
    ...place("/resource_classes", "resource_classes", [found("/resource_classes", "resource_classes.0.name")]),
    idField: "name",
  },
];
