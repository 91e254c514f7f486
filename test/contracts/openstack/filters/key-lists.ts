import type { FilteredList } from "./list.ts";

export const keyLists: readonly FilteredList[] = [
  {
    service: "key-manager",
    path: "/v1/secrets?limit=100",
    many: "secrets",
    as: "member",
    idField: "name",
    make: [
      {
        says: "a secret",
        call: "POST /v1/secrets",
        body: {
          name: "{run}-s",
          algorithm: "aes",
          mode: "cbc",
          bit_length: 192,
          secret_type: "opaque",
          expiration: "2100-01-01T00:00:00",
        },
        keep: { ref: "secret_ref" },
        undo: "DELETE {ref}",
      },
      { says: "its name", call: "GET {ref}", keep: { id: "name" } },
    ],
    more: {
      bits: ["192", "256"],
      alg: ["aes", "des"],
      mode: ["cbc", "ctr"],
      secret_type: ["opaque", "passphrase"],
      expiration: ["gt:2099-01-01T00:00:00", "gt:2101-01-01T00:00:00"],
      created: ["gt:2020-01-01T00:00:00", "lt:2020-01-01T00:00:00"],
    },
  },
  {
    service: "key-manager",
    path: "/v1/containers?limit=100",
    many: "containers",
    as: "member",
    idField: "container_ref",
    make: [
      {
        says: "a container",
        call: "POST /v1/containers",
        body: { name: "{run}-c", type: "generic", secret_refs: [] },
        keep: { id: "container_ref" },
        undo: "DELETE {id}",
      },
    ],
  },
  {
    service: "key-manager",
    path: "{ref}/consumers",
    name: "containers/consumers",
    many: "consumers",
    as: "member",
    idField: "name",
    make: [
      {
        says: "a container",
        call: "POST /v1/containers",
        body: { name: "{run}-c", type: "generic", secret_refs: [] },
        keep: { ref: "container_ref" },
        undo: "DELETE {ref}",
      },
      {
        says: "its user",
        call: "POST {ref}/consumers",
        body: { name: "{run}", URL: "http://192.0.2.1/x" },
        keep: { id: "consumers.0.name" },
      },
    ],
  },
  {
    service: "key-manager",
    path: "/v1/orders?limit=100",
    many: "orders",
    as: "member",
    idField: "order_ref",
    make: [
      {
        says: "an order",
        call: "POST /v1/orders",
        body: { type: "key", meta: { name: "{run}-k", algorithm: "aes", bit_length: 256, mode: "cbc" } },
        // It remains: the right to create an order does not include the right to delete it.
        keep: { id: "order_ref" },
      },
      {
        says: "its key",
        call: "GET {id}",
        until: { field: "status", is: ["ACTIVE", "ERROR"] },
        keep: { ref: "secret_ref" },
        undo: "DELETE {ref}",
      },
    ],
    more: { meta: ["{run}-k", "{run}-x"] },
  },
];
