import { describe, expect, test } from "vitest";
import type { Listener, ListenerUpdate } from "@causeway/openstack";
import type { ListenerSettings } from "./desired.ts";
import { listenerChange } from "./plan-listener.ts";

/** All that can be wanted of a listener, and a listener that has it. */
const all: ListenerSettings = {
  tags: ["ours"],
  connectionLimit: 7,
  allowedCidrs: ["192.0.2.0/24"],
  tlsContainerRef: "secret-1",
  sniContainerRefs: ["secret-1", "secret-2"],
  insertHeaders: { "X-Forwarded-For": "true", "X-Forwarded-Port": "false" },
  timeouts: { clientData: 1, memberConnect: 2, memberData: 3, tcpInspect: 4 },
};
const itself = {
  id: "L",
  admin_state_up: true,
  tags: ["theirs", "ours"],
  connection_limit: 7,
  allowed_cidrs: ["192.0.2.0/24"],
  default_tls_container_ref: "secret-1",
  sni_container_refs: ["secret-2", "secret-1"],
  insert_headers: { "X-Forwarded-Port": "false", "X-Forwarded-For": "true" },
  timeout_client_data: 1,
  timeout_member_connect: 2,
  timeout_member_data: 3,
  timeout_tcp_inspect: 4,
} as unknown as Listener;

describe("the change of a listener", () => {
  test.each<[string, Partial<Listener>, Partial<ListenerSettings>, ListenerUpdate | undefined]>([
    ["nothing differs", {}, {}, undefined],
    ["switches it on again", { admin_state_up: false }, {}, { admin_state_up: true }],
    ["adds a tag to those of others", { tags: ["theirs"] }, {}, { tags: ["theirs", "ours"] }],
    ["has the wanted limit of connections", { connection_limit: 8 }, {}, { connection_limit: 7 }],
    ["lifts the limit", {}, { connectionLimit: -1 }, { connection_limit: -1 }],
    ["reads a missing limit as none", { connection_limit: null } as never, { connectionLimit: -1 }, undefined],
    ["has the wanted ranges", { allowed_cidrs: ["203.0.113.0/24"] }, {}, { allowed_cidrs: ["192.0.2.0/24"] }],
    ["lifts the ranges", {}, { allowedCidrs: [] }, { allowed_cidrs: [] }],
    ["leaves ranges that the provider does not know", { allowed_cidrs: null }, { allowedCidrs: undefined }, undefined],
    ["reads ranges spelled otherwise", { allowed_cidrs: ["192.0.2.9/24"] }, {}, undefined],
    ["renews the certificate", {}, { tlsContainerRef: "secret-3" }, { default_tls_container_ref: "secret-3" }],
    ["leaves a certificate that is not ours to choose", {}, { tlsContainerRef: undefined }, undefined],
    [
      "has the wanted names' certificates",
      {},
      { sniContainerRefs: ["secret-2"] },
      { sni_container_refs: ["secret-2"] },
    ],
    [
      "gives the first of them",
      { sni_container_refs: null } as never,
      { sniContainerRefs: ["a"] },
      { sni_container_refs: ["a"] },
    ],
    ["leaves them when none are said", {}, { sniContainerRefs: undefined }, undefined],
    [
      "has the wanted timeouts",
      { timeout_member_data: 9, timeout_tcp_inspect: 0 },
      {},
      { timeout_member_data: 3, timeout_tcp_inspect: 4 },
    ],
    ["leaves a timeout that is not wanted", { timeout_client_data: 9 }, { timeouts: { memberData: 3 } }, undefined],
    ["leaves a timeout that the provider does not have", { timeout_client_data: null }, {}, undefined],
    ["leaves timeouts when none are said", { timeout_client_data: 9 }, { timeouts: undefined }, undefined],
    ["inserts a header", { insert_headers: null }, { insertHeaders: { a: "1" } }, { insert_headers: { a: "1" } }],
    ["no longer inserts headers", {}, { insertHeaders: undefined }, { insert_headers: {} }],
    [
      "sees that two headers have exchanged their values",
      { insert_headers: { "X-Forwarded-For": "false", "X-Forwarded-Port": "true" } },
      {},
      { insert_headers: all.insertHeaders },
    ],
  ] as never)("%s", (_title, have, wanted, expected) => {
    expect(listenerChange({ ...itself, ...have }, { ...all, ...wanted })).toEqual(expected);
  });
});
