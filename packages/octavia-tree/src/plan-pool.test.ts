import { describe, expect, test } from "vitest";
import type { HealthMonitor, Listener, Member, Pool } from "@causeway/openstack";
import type { DesiredMonitor, DesiredPool } from "./desired.ts";
import { accessChanges, poolChanges, poolOf, removal, transport } from "./plan-pool.ts";
import type { ObservedPool } from "./pool-details.ts";
import type { TreeStep } from "./steps.ts";

const http: DesiredMonitor = { type: "HTTP", delay: 10, timeout: 5, maxRetries: 5, maxRetriesDown: 3 };
const wanted: DesiredPool = {
  poolName: "p",
  poolProtocol: "HTTP",
  poolTags: ["ours"],
  algorithm: "ROUND_ROBIN",
  persistence: { type: "SOURCE_IP" },
  members: [{ address: "10.0.0.1", protocol_port: 80, name: "n" }],
  monitor: http,
  monitorName: "m",
  serial: false,
  memberCosts: { kept: 0, changed: 0, single: 0, cycle: 10 },
};
const pool = {
  id: "P",
  admin_state_up: true,
  tags: ["theirs", "ours"],
  lb_algorithm: "ROUND_ROBIN",
  session_persistence: { type: "SOURCE_IP", cookie_name: null },
  healthmonitor_id: "M",
  listeners: [],
} as unknown as Pool;
const checks = {
  type: "HTTP",
  delay: 10,
  timeout: 5,
  max_retries: 5,
  max_retries_down: 3,
  url_path: "/healthz",
  http_method: "GET",
  expected_codes: "200",
};
const monitor = { id: "M", admin_state_up: true, ...checks } as unknown as HealthMonitor;
const members = [{ id: "N", address: "10.0.0.1", protocol_port: 80, name: "n" }] as unknown as Member[];
const body = {
  pool_id: "P",
  name: "m",
  ...checks,
};
const deletion: TreeStep = { type: "delete-monitor", id: "M", poolId: "P" };
const replaced: TreeStep = { type: "replace-members", poolId: "P", members: wanted.members };
const change = (more: object): TreeStep => ({ type: "update-pool", id: "P", change: more });
const monitorChange = (more: object): TreeStep => ({ type: "update-monitor", id: "M", poolId: "P", change: more });

describe("the changes of a pool", () => {
  test.each<[string, Partial<Pool>, Partial<DesiredPool>, readonly TreeStep[]]>([
    ["nothing differs", {}, {}, []],
    ["switches it on again", { admin_state_up: false }, {}, [change({ admin_state_up: true })]],
    ["adds a tag to those of others", { tags: ["theirs"] }, {}, [change({ tags: ["theirs", "ours"] })]],
    ["leaves tags when none are said", { tags: ["theirs"] }, { poolTags: undefined as never }, []],
    ["has the wanted algorithm", {}, { algorithm: "SOURCE_IP" }, [change({ lb_algorithm: "SOURCE_IP" })]],
    [
      "has the wanted persistence",
      { session_persistence: null },
      {},
      [change({ session_persistence: { type: "SOURCE_IP" } })],
    ],
    ["drops persistence", {}, { persistence: null }, [change({ session_persistence: null })]],
  ])("%s", (_title, have, more, expected) => {
    const observed = { pool: { ...pool, ...have }, members, monitor };
    expect([...poolChanges(observed, { ...wanted, ...more }, false)]).toEqual(expected);
  });

  test("leaves an algorithm that the provider has refused", () => {
    const found = poolChanges({ pool, members, monitor }, { ...wanted, algorithm: "SOURCE_IP" }, true);
    expect([...found]).toEqual([]);
  });

  test.each<[string, Partial<HealthMonitor> | undefined, DesiredMonitor | undefined, readonly TreeStep[]]>([
    ["creates one after the members", undefined, http, [replaced, { type: "create-monitor", body }]],
    ["deletes one that is not wanted before new members could fail", {}, undefined, [deletion, replaced]],
    ["first deletes one of another type", { type: "TCP", delay: 1 }, http, [deletion, replaced]],
    ["has none, and wants none", undefined, undefined, [replaced]],
    ["switches one on again", { admin_state_up: false }, http, [replaced, monitorChange({ admin_state_up: true })]],
    [
      "has the wanted times",
      { delay: 1, timeout: 2, max_retries: 1, max_retries_down: 2 },
      http,
      [replaced, monitorChange({ delay: 10, timeout: 5, max_retries: 5, max_retries_down: 3 })],
    ],
    [
      "asks what an HTTP monitor is to ask",
      { url_path: "/", http_method: "HEAD", expected_codes: "204" },
      http,
      [replaced, monitorChange({ url_path: "/healthz", http_method: "GET", expected_codes: "200" })],
    ],
    ["leaves what a TCP monitor does not have", { type: "TCP", url_path: "/" }, { ...http, type: "TCP" }, [replaced]],
  ])("of its monitor: %s", (_title, have, monitorWanted, expected) => {
    const observed = { pool, members: [], monitor: have && { ...monitor, ...have } };
    expect([...poolChanges(observed, { ...wanted, monitor: monitorWanted }, false)]).toEqual(expected);
  });

  test.each<[string, Partial<Pool>, Partial<DesiredPool>, boolean, readonly string[]]>([
    ["of a pool that nothing uses yet", { healthmonitor_id: null }, {}, false, ["create-monitor"]],
    ["of a new pool", { healthmonitor_id: null }, { isNew: true }, true, ["create-monitor"]],
    ["of a used pool: the operator removed it", { healthmonitor_id: null }, {}, true, []],
    ["that is there", {}, { isNew: true }, false, []],
    ["that is not wanted", { healthmonitor_id: null }, { monitor: undefined }, false, []],
  ])("where only the access is kept, the monitor %s", (_title, have, more, isUsed, expected) => {
    const steps = accessChanges({ pool: { ...pool, ...have }, members }, { ...wanted, ...more }, isUsed);
    expect([...steps].map(({ type }) => type)).toEqual(expected);
  });

  test("where only the access is kept, a member's weight remains as an operator set it", () => {
    const weighted = members.map((m): Member => ({ ...m, weight: 0 }));
    expect([...accessChanges({ pool, members: weighted }, wanted, true)]).toEqual([]);
  });
});

describe("the removal of a listener", () => {
  const listener = (id: string, pool: string | null): Listener => ({ id, default_pool_id: pool }) as Listener;
  const observed = (id: string, ...listeners: string[]): ObservedPool => ({
    pool: { ...pool, id, listeners: listeners.map((of) => ({ id: of })) },
    members: [],
    monitor: undefined,
  });
  test.each<[string, readonly ObservedPool[], Listener, string | undefined, TreeStep]>([
    [
      "first deletes its pool",
      [observed("X"), observed("P", "L")],
      listener("L", "P"),
      "P",
      { type: "delete-pool", id: "P" },
    ],
    [
      "knows its pool by the listener",
      [observed("X", "Y"), observed("P")],
      listener("L", "P"),
      "P",
      { type: "delete-pool", id: "P" },
    ],
    [
      "knows its pool by the pool",
      [observed("X", "Y"), observed("P", "L")],
      listener("L", null),
      "P",
      { type: "delete-pool", id: "P" },
    ],
    [
      "leaves a pool that another listener uses",
      [observed("P", "L", "Y")],
      listener("L", "P"),
      "P",
      { type: "delete-listener", id: "L" },
    ],
    [
      "deletes one without a pool",
      [observed("X", "Y")],
      listener("L", null),
      undefined,
      { type: "delete-listener", id: "L" },
    ],
  ])("%s", (_title, pools, one, poolId, expected) => {
    expect(poolOf(pools, one)?.pool.id).toBe(poolId);
    expect(removal(pools, one)).toEqual(expected);
  });
});

test.each([
  ["UDP", "UDP"],
  ["SCTP", "SCTP"],
  ["TCP", "TCP"],
  ["HTTP", "TCP"],
  ["TERMINATED_HTTPS", "TCP"],
])("the transport of %s is %s", (protocol, expected) => {
  expect(transport(protocol)).toBe(expected);
});
