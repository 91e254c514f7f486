import { labels, type OpenStackMachine } from "@causeway/api";
import type { Member, Subnet } from "@causeway/openstack";
import { describe, expect, it, test } from "vitest";
import { dependsOnStates, desiredMembers, MEMBER_LEAVES_WITHIN } from "./members.ts";

type Status = NonNullable<OpenStackMachine["status"]>;

const addresses: Status["addresses"] = [{ type: "InternalIP", address: "10.6.0.4" }];
const provisioned = { initialization: { provisioned: true } };
const deletionTimestamp = "2026-01-01T00:00:00Z";
const deletedAt = Date.parse(deletionTimestamp);
const subnets = [{ cidr: "10.6.0.0/24" } as Subnet];

function machine(status: Status, metadata: object = {}): OpenStackMachine {
  return {
    metadata: { name: "cp-0", namespace: "default", labels: { [labels.controlPlane]: "" }, ...metadata },
    spec: {},
    status,
  } as unknown as OpenStackMachine;
}

function desired(machines: OpenStackMachine[], present: readonly Member[], now = deletedAt) {
  return desiredMembers({ machines, tags: [], now }, { name: "pool", port: 6443, present }, subnets);
}

test.each<[string, OpenStackMachine, boolean]>([
  ["runs", machine({ addresses, instanceState: "ACTIVE" }), true],
  ["is switched off", machine({ addresses, instanceState: "SHUTOFF", ...provisioned }), false],
  ["was provisioned by upstream's provider, which records no state", machine({ addresses, ...provisioned }), true],
  ["is being made", machine({ addresses }), false],
  ["has no address yet", machine({ instanceState: "ACTIVE", addresses: [] }), false],
  ["is being deleted", machine({ addresses, instanceState: "ACTIVE" }, { deletionTimestamp }), false],
  ["is a worker", machine({ addresses, instanceState: "ACTIVE" }, { labels: {} }), false],
])("a machine that %s is a member of the API's load balancer or not %#", (_what, one, expected) => {
  const { members } = desired([one], []);
  expect(members.map(({ name, address }) => `${name} ${address}`)).toEqual(expected ? ["pool-cp-0 10.6.0.4"] : []);
});

test.each<[string, string, object, Status, boolean]>([
  ["remains, known by its name", "with a server", { spec: { providerID: "openstack:///s" } }, {}, true],
  ["goes", "that is being deleted", { spec: { providerID: "openstack:///s" }, deletionTimestamp }, {}, false],
  ["goes", "without a server", { spec: {} }, {}, false],
  ["goes", "whose server was read", { spec: { providerID: "openstack:///s" } }, { instanceState: "ERROR" }, false],
])(
  "a member %s for a machine %s that clusterctl moved without its status %#",
  (_goes, _what, more, status, remains) => {
    const { spec, ...metadata } = more as { spec: object };
    const moved = { ...machine(status, metadata), spec } as OpenStackMachine;
    const present = [
      { name: "pool-cp-0", address: "10.6.0.4" },
      { name: "foreign", address: "10.6.0.9" },
    ] as Member[];
    const kept = [{ address: "10.6.0.4", protocol_port: 6443, name: "pool-cp-0", tags: [] }];
    expect(desired([moved], present).members).toEqual(remains ? kept : []);
  },
);

test.each<[string, string, string, boolean]>([
  ["none", "none", "no machine goes", false],
  ["none", "w", "a worker goes", false],
  ["none", "a", "one of the control plane is deleted", true],
  ["a", "none", "one of the control plane leaves it", true],
  ["a", "bcw", "all of the control plane go", false],
])(
  "with %s leaving and %s deleted the states of members decide or not, since %s",
  (leaving, deleted, _why, expected) => {
    const machines = ["a", "b", "c", "w"].map((name) => {
      const goes = deleted.includes(name) ? { deletionTimestamp } : {};
      return machine({}, { name, ...goes, ...(name === "w" ? { labels: {} } : {}) });
    });
    expect(dependsOnStates({ machines, leaving: new Set(leaving) })).toBe(expected);
  },
);

describe("the member of a deleted control-plane machine", () => {
  const at = (n: number) => `10.6.0.${n}`;
  const cp = (n: number, metadata: object = {}, state: string | undefined = "ACTIVE") =>
    machine(
      { addresses: [{ type: "InternalIP", address: at(n) }], ...(state === undefined ? {} : { instanceState: state }) },
      { name: `cp-${n}`, ...metadata },
    );
  const member = (n: number, operating_status = "ONLINE", more: Partial<Member> = {}) =>
    ({ address: at(n), provisioning_status: "ACTIVE", admin_state_up: true, operating_status, ...more }) as Member;
  const old = cp(1, { deletionTimestamp });

  it.each<[string, OpenStackMachine[], Member[]]>([
    ["the new machine is no member yet", [cp(2)], [member(1)]],
    ["the new member is being created", [cp(2)], [member(1), member(2, "OFFLINE", pending("PENDING_CREATE"))]],
    ["the new member has not been checked", [cp(2)], [member(1), member(2, "OFFLINE")]],
    ["the only other member does not respond", [cp(2)], [member(1), member(2, "ERROR")]],
    ["the new machine is still being made", [cp(2, {}, "BUILD")], [member(1)]],
    ["one of two others is being created", [cp(2), cp(3)], [member(1), member(2)]],
    ["no provider checks members, and the new one is missing", [cp(2)], [member(1, "NO_MONITOR")]],
  ])("remains while it serves and %s", (_what, others, present) => {
    const { members, kept } = desired([old, ...others], present);
    expect(kept).toEqual(["cp-1"]);
    expect(members).toContainEqual({ address: at(1), protocol_port: 6443, name: "pool-cp-1", tags: [] });
  });

  it.each<[string, OpenStackMachine[], Member[], number]>([
    ["the new member serves", [cp(2)], [member(1), member(2)], 0],
    [
      "no provider checks members, and the new one is there",
      [cp(2)],
      [member(1, "NO_MONITOR"), member(2, "NO_MONITOR")],
      0,
    ],
    ["it does not serve itself", [cp(2)], [member(1, "ERROR"), member(2, "OFFLINE")], 0],
    ["it was removed before", [cp(2)], [member(2, "OFFLINE")], 0],
    ["no other control-plane machine is there", [], [member(1)], 0],
    ["all control-plane machines are deleted", [cp(2, { deletionTimestamp })], [member(1), member(2)], 0],
    [
      "one of two others serves, and the other is broken",
      [cp(2), cp(3)],
      [member(1), member(2), member(3, "ERROR")],
      0,
    ],
    [
      "an operator has switched the other off and a third serves",
      [cp(2), cp(3)],
      [member(1), member(2, "OFFLINE", { admin_state_up: false }), member(3)],
      0,
    ],
    ["the others have not served for five minutes", [cp(2)], [member(1), member(2, "ERROR")], MEMBER_LEAVES_WITHIN],
  ])("leaves when %s", (_what, others, present, after) => {
    const { members, kept } = desired([old, ...others], present, deletedAt + after);
    expect(kept).toEqual([]);
    expect(members.map(({ address }) => address)).not.toContain(at(1));
  });
});

function pending(provisioning_status: Member["provisioning_status"]): Partial<Member> {
  return { provisioning_status };
}

describe("the member of a machine that leaves the control plane before it is deleted", () => {
  const at = (n: number) => `10.6.0.${n}`;
  const cp = (n: number, metadata: object = {}) =>
    machine(
      { addresses: [{ type: "InternalIP", address: at(n) }], instanceState: "ACTIVE" },
      { name: `cp-${n}`, ...metadata },
    );
  const member = (n: number, operating_status = "ONLINE") =>
    ({ address: at(n), provisioning_status: "ACTIVE", admin_state_up: true, operating_status }) as Member;
  const left = (machines: OpenStackMachine[], leaving: string[], present: Member[], now = deletedAt) =>
    desiredMembers(
      { machines, leaving: new Set(leaving), tags: [], now },
      { name: "pool", port: 6443, present },
      subnets,
    ).members.map(({ name }) => name);

  test.each<[string, string[], OpenStackMachine[], string[], Member[]]>([
    ["goes while another serves", ["pool-cp-2"], [cp(1), cp(2)], ["cp-1"], [member(1), member(2)]],
    [
      "remains while no other serves",
      ["pool-cp-1", "pool-cp-2"],
      [cp(1), cp(2)],
      ["cp-1"],
      [member(1), member(2, "OFFLINE")],
    ],
    [
      "goes if it does not serve itself",
      ["pool-cp-2"],
      [cp(1), cp(2)],
      ["cp-1"],
      [member(1, "ERROR"), member(2, "OFFLINE")],
    ],
    [
      "remains with those of all that leave",
      ["pool-cp-1", "pool-cp-2"],
      [cp(1), cp(2)],
      ["cp-1", "cp-2"],
      [member(1), member(2)],
    ],
    ["is not created", ["pool-cp-2"], [cp(1), cp(2)], ["cp-1"], [member(2, "OFFLINE")]],
    ["goes with its machine", ["pool-cp-2"], [cp(1, { deletionTimestamp }), cp(2)], ["cp-1"], [member(1), member(2)]],
  ])("%s", (_what, wanted, machines, leaving, present) => {
    expect(left(machines, leaving, present)).toEqual(wanted);
  });
  test("remains for as long as no other serves", () => {
    const present = [member(1), member(2, "OFFLINE")];
    expect(left([cp(1), cp(2)], ["cp-1"], present, deletedAt + 2 * MEMBER_LEAVES_WITHIN)).toContain("pool-cp-1");
  });
});
