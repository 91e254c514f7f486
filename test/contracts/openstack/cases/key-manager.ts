import type { RawGroup } from "../case.ts";

export const keyManagerGroups: readonly RawGroup[] = [
  {
    name: "secrets and containers",
    service: "key-manager",
    cases: [
      { says: "the versions", call: "GET ^/", statusOnly: true },
      { says: "secrets of no such name", call: "GET /v1/secrets?name={run}", exact: ["total"] },
      { says: "a secret that is not there", call: "GET /v1/secrets/{nothing}" },
      { says: "an id that is none", call: "GET /v1/secrets/zzz" },
      { says: "deletes a secret that is not there", call: "DELETE /v1/secrets/{nothing}" },
      {
        says: "makes a secret",
        call: "POST /v1/secrets",
        body: { name: "{run}-s", payload: "hidden", payload_content_type: "text/plain" },
        keep: { ref: "secret_ref" },
      },
      {
        says: "is found by its name",
        call: "GET /v1/secrets?name={run}-s",
        exact: ["total", "secrets.0.name", "secrets.0.status"],
      },
      { says: "an empty secret", call: "POST /v1/secrets", body: {} },
      { says: "a payload without its type", call: "POST /v1/secrets", body: { name: "{run}-t", payload: "hidden" } },
      {
        says: "a type that is none",
        call: "POST /v1/secrets",
        body: { name: "{run}-t", payload: "hidden", payload_content_type: "nonsense/x" },
      },
      { says: "a secret type that is none", call: "POST /v1/secrets", body: { name: "{run}-t", secret_type: "wrong" } },
      { says: "no token", call: "GET /v1/secrets", headers: { "x-auth-token": "none" } },
      { says: "a reader makes a secret", call: "POST /v1/secrets", body: { name: "{run}-t" }, as: "reader" },
      { says: "containers", call: "GET /v1/containers?limit=1", statusOnly: true },
      { says: "a container that is not there", call: "GET /v1/containers/{nothing}" },
      {
        says: "a container of a type that is none",
        call: "POST /v1/containers",
        body: { name: "x", type: "wrong", secret_refs: [] },
      },
      { says: "a container without its type", call: "POST /v1/containers", body: { name: "x" } },
      { says: "an order that is not there", call: "GET /v1/orders/{nothing}" },
      { says: "an order of a type that is none", call: "POST /v1/orders", body: { type: "wrong", meta: {} } },
      { says: "a body that is no JSON", call: "POST /v1/secrets", body: "{" },
    ],
  },
];
