import { timestamp } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { MEMBER_LEAVES_WITHIN } from "../openstackcluster/members.ts";
import { endpointHook, leavingOwner, type LeavingOwner } from "../openstackcluster/leaving.ts";
import { machineFinalizer } from "../resources/naming.ts";
import { now } from "../testing/objects.ts";
import { deleting, plan, settle, world } from "../testing/machine-world.ts";

const since = (ago: number) => timestamp(now - ago);

/** What is written to the hook, and when it is checked again. */
function done(
  leaving: Partial<LeavingOwner> | undefined,
  pools: readonly string[] | undefined,
  change: (w: ReturnType<typeof world>) => void = () => {},
) {
  const w = world();
  const owner = {
    name: "demo-abcde",
    ...(leaving && { leaving: { uid: "uid-m", hook: undefined, isTerminating: false, ...leaving } }),
  };
  w.extra = { owner, endpointPools: pools };
  change(w);
  const planned = plan(w);
  const step = planned.steps.find(({ type }) => type === "set-endpoint-hook");
  return [step && "value" in step ? step.value : undefined, planned.wait?.until];
}

describe("the hook of a deleted Machine whose member the API's load balancer has", () => {
  test.each<[string, Parameters<typeof done>, string | null | undefined]>([
    ["is not set before the Machine is deleted", [undefined, ["pool"]], undefined],
    ["is set when it is deleted", [{}, ["pool"]], ""],
    ["is not set without a member", [{}, []], undefined],
    ["is not set while the cloud is not known", [{}, undefined], undefined],
    ["is not set once the control plane may have acted", [{ isTerminating: true }, ["pool"]], undefined],
    ["is not set once the server goes", [{}, ["pool"], deleting], undefined],
    ["remains while the Machine is drained", [{ hook: "" }, ["pool"]], undefined],
    ["says when the Machine was drained", [{ hook: "", isTerminating: true }, ["pool"]], timestamp(now)],
    ["says so also while the cloud is not known", [{ hook: "", isTerminating: true }, undefined], timestamp(now)],
    [
      "says when again after a clock that was ahead",
      [{ hook: since(-1_000), isTerminating: true }, undefined],
      timestamp(now),
    ],
    ["remains while the member does", [{ hook: since(1_000), isTerminating: true }, ["pool"]], undefined],
    ["goes with the member", [{ hook: since(1_000), isTerminating: true }, []], null],
    ["goes with the member during the drain", [{ hook: "" }, []], null],
    [
      "goes in the end with the member still there",
      [{ hook: since(MEMBER_LEAVES_WITHIN), isTerminating: true }, ["pool"]],
      null,
    ],
    ["goes in the end without a cloud", [{ hook: since(MEMBER_LEAVES_WITHIN), isTerminating: true }, undefined], null],
    ["goes when the server does", [{ hook: since(0), isTerminating: true }, ["pool"], deleting], null],
    [
      "is as it is while paused",
      [{ hook: since(0), isTerminating: true }, [], (w) => (w.extra = { ...w.extra, paused: true })],
      undefined,
    ],
    [
      "goes in the end without credentials",
      [
        { hook: since(MEMBER_LEAVES_WITHIN), isTerminating: true },
        undefined,
        (w) => (w.extra = { ...w.extra, identity: { ok: false, reason: "SecretMissing", message: "no Secret" } }),
      ],
      null,
    ],
  ])("%s", (_what, given, value) => {
    expect(done(...given)[0]).toBe(value);
  });

  test("is checked again every two seconds, and when its time is over", () => {
    expect(done({ hook: since(0), isTerminating: true }, ["pool"])[1]).toBe(now + 2_000);
    expect(done({ hook: since(MEMBER_LEAVES_WITHIN - 1_000), isTerminating: true }, ["pool"])[1]).toBe(now + 1_000);
  });
});

test("a machine whose server runs waits for its member to be removed", () => {
  const w = world();
  settle(w);
  const leaving = { uid: "uid-m", hook: since(0), isTerminating: true };
  w.extra = { owner: { name: "demo-workers-abcde", leaving }, endpointPools: ["pool"] };
  expect(plan(w).wait).toEqual({ for: "its member to be removed", until: now + 2_000 });
});

test("an object without a server keeps its finalizer until its Machine has no hook, which no other object removes", () => {
  const typesWith = (hook: string | undefined): string[] => {
    const w = world({}, { finalizers: [machineFinalizer] });
    deleting(w);
    w.extra = {
      owner: { name: "demo-abcde", leaving: { uid: "uid-m", hook, isTerminating: true } },
      endpointPools: [],
    };
    return plan(w).steps.map(({ type }) => type);
  };
  expect(typesWith(since(0))).toEqual(["set-endpoint-hook", "remove-finalizer"]);
  expect(typesWith(undefined)).toEqual(["remove-finalizer"]);
});

test("a Machine is leaving from its deletion on, and ends at the stage of its hooks", () => {
  const machine = (metadata: object, reason?: string) =>
    ({
      metadata: { name: "m", uid: "uid-m", ...metadata },
      status: reason === undefined ? {} : { conditions: [{ type: "Deleting", status: "True", reason }] },
    }) as never;
  const deletionTimestamp = "2026-11-29T00:00:00Z";
  expect(leavingOwner(machine({}))).toBeUndefined();
  expect(leavingOwner(machine({ deletionTimestamp }, "DrainingNode"))).toEqual({
    uid: "uid-m",
    hook: undefined,
    isTerminating: false,
  });
  const annotations = { [endpointHook]: "" };
  expect(leavingOwner(machine({ deletionTimestamp, annotations }, "WaitingForPreTerminateHook"))).toEqual({
    uid: "uid-m",
    hook: "",
    isTerminating: true,
  });
});
