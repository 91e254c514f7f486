import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Member, MemberCreate, Pool } from "@causeway/openstack";
import { isSinglyCheaper, memberChange } from "./plan-members.ts";
import { limitsOf } from "./provider.ts";

const batch = { serial: false, memberCosts: limitsOf("amphora").memberCosts };
const serial = { ...batch, serial: true };
const ovn = { serial: false, memberCosts: limitsOf("ovn").memberCosts };
/** Naming what remains costs more than any change. */
const singly = { serial: false, memberCosts: { kept: 10, changed: 0, single: 0, cycle: 0 } };
const pool = { id: "P" } as Pool;
const wanted = (address: string, more: Partial<MemberCreate> = {}): MemberCreate => ({
  address,
  protocol_port: 80,
  name: `n${address}`,
  ...more,
});
const have = (address: string, more: Partial<Member> = {}): Member =>
  ({ id: `id-${address}`, ...wanted(address), provisioning_status: "ACTIVE", ...more }) as Member;
const change = (
  members: readonly Member[],
  desired: readonly MemberCreate[],
  how: typeof batch = batch,
  upkeep?: "access",
) => memberChange({ pool, members }, { members: desired, ...how }, upkeep);

describe("the change of a pool's members", () => {
  test.each<[string, readonly Member[], readonly MemberCreate[]]>([
    ["no member is there, and none is wanted", [], []],
    ["each member is as it is wanted", [have("a"), have("b")], [wanted("b"), wanted("a")]],
    ["a member has Octavia's defaults", [have("a", { weight: 1, backup: false, monitor_port: null })], [wanted("a")]],
    ["no name is wanted", [have("a", { name: "by hand" })], [wanted("a", { name: undefined as never })]],
  ])("is none where %s", (_title, members, desired) => {
    for (const how of [batch, serial, ovn, singly]) expect(change(members, desired, how)).toBeUndefined();
  });

  test.each<[string, readonly Member[], readonly MemberCreate[]]>([
    ["a member is missing", [have("a")], [wanted("a"), wanted("b")]],
    ["a member is too many", [have("a"), have("b")], [wanted("a")]],
    ["a member at that place has another port", [have("a", { protocol_port: 81 })], [wanted("a")]],
    ["a member is being deleted", [have("a", { provisioning_status: "PENDING_DELETE" })], [wanted("a")]],
    ["a member is deleted", [have("a", { provisioning_status: "DELETED" as never })], [wanted("a")]],
    ["a member has another node's name", [have("a", { name: "other" })], [wanted("a")]],
  ])("is one batch of all where %s", (_title, members, desired) => {
    expect(change(members, desired)).toEqual({ type: "replace-members", poolId: "P", members: desired });
  });

  test.each<[string, Partial<Member>, Partial<MemberCreate>, object]>([
    ["weight", { weight: 0 }, {}, { weight: 1 }],
    ["weight, where one is wanted", { weight: 1 }, { weight: 5 }, { weight: 5 }],
    ["role", { backup: true }, {}, { backup: false }],
    ["switch", { admin_state_up: false }, {}, { admin_state_up: true }],
    ["monitor's port", { monitor_port: 9 }, {}, { monitor_port: null }],
    ["monitor's port, where one is wanted", {}, { monitor_port: 9 }, { monitor_port: 9 }],
    ["name", { name: "other" }, {}, { name: "na" }],
  ])("rights a member's %s", (_title, odd, more, expected) => {
    const [members, desired] = [
      [have("a", odd), have("b")],
      [wanted("a", more), wanted("b")],
    ];
    const righted = [{ ...desired[0], ...expected }, desired[1]];
    expect(change(members, desired)).toEqual({ type: "replace-members", poolId: "P", members: righted });
    expect(change(members, desired, singly)).toEqual({
      type: "update-member",
      poolId: "P",
      id: "id-a",
      change: expected,
    });
  });

  test("leaves what an operator set of a member where only the access is kept, except its name", () => {
    const odd = have("a", { weight: 0, backup: true, admin_state_up: false, monitor_port: 9 });
    expect(change([odd], [wanted("a")], batch, "access")).toBeUndefined();
    const members = [{ ...wanted("a") }];
    expect(change([{ ...odd, name: "x" }], members, batch, "access")).toEqual({
      type: "replace-members",
      poolId: "P",
      members,
    });
  });

  test("deletes, rights, and creates one at a time where the provider takes no batch", () => {
    const desired = [wanted("a", { weight: 2 }), wanted("b")];
    const members = [have("a"), have("c")];
    expect(change(members, desired, serial)).toEqual({ type: "delete-member", poolId: "P", id: "id-c", more: true });
    const two = { type: "update-member", poolId: "P", id: "id-a", change: { weight: 2 }, more: true };
    expect(change([have("a")], desired, serial)).toEqual(two);
    expect(change([have("a", { weight: 2 })], desired, serial)).toEqual({
      type: "create-member",
      poolId: "P",
      body: { ...wanted("b"), name: "member_nb_b_80" },
    });
  });

  test("names a member of its own as upstream does, and does not rename it", () => {
    expect(change([have("a", { name: "member_na_a_80" })], [wanted("a")], serial)).toBeUndefined();
    const long = wanted("a", { name: "n".repeat(300) });
    expect(change([], [long], serial)).toMatchObject({ body: { name: `member_${"n".repeat(248)}` } });
  });

  test("creates one member next to many on OVN with its own name, and all of a new pool at once", () => {
    const many = Array.from({ length: 40 }, (_, i) => `m${i}`);
    const all = [...many.map((m) => wanted(m)), wanted("new")];
    const members = many.map((m) => have(m));
    expect(change(members, all, ovn)).toEqual({ type: "create-member", poolId: "P", body: wanted("new") });
    expect(change([], all, ovn)?.type).toBe("replace-members");
    expect(change(members, all.slice(3, 40), ovn)?.type).toBe("delete-member");
    expect(change(members, all.slice(4, 40), ovn)?.type).toBe("replace-members");
    // All go but one: what remains is cheap to name.
    expect(change(members, [wanted("m0")], ovn)?.type).toBe("replace-members");
  });

  const amount = fc.integer({ min: 0, max: 60 });
  test("takes the way whose seconds are fewer", () => {
    const costs = limitsOf("ovn").memberCosts;
    fc.assert(
      fc.property(amount, amount, (changed, kept) => {
        const [singly, together] = [changed * 1.5, 0.5 + kept * 0.1 + changed * 0.39];
        fc.pre(Math.abs(singly - together) > 1e-9);
        expect(isSinglyCheaper({ changed, kept }, costs)).toBe(singly < together);
      }),
    );
  });
});
