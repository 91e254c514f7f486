import { describe, expect, test } from "vitest";
import { outcome, record } from "../../testing/planned.ts";
import { planFreeze, type FreezeFacts } from "./plan.ts";

describe("the phase freeze", () => {
  const frozen: FreezeFacts = {
    isDenied: true,
    changers: [{ kind: "Deployment", name: "cluster-autoscaler", state: "stopped", isOurs: true }],
    agents: [{ name: "m0", address: "10.0.0.4", isActive: false }],
    hasCaKey: true,
    called: [],
  };
  const healer = { kind: "DaemonSet", name: "magnum-auto-healer", state: "running", isOurs: false } as const;
  test.for<[string, Partial<FreezeFacts>, string]>([
    ["asks Magnum first whether it denies changes", { isDenied: false, changers: [healer] }, "check-denied"],
    ["stops what drives Magnum", { changers: [healer] }, "stop-workload"],
    ["stops Heat's agents", { agents: [{ name: "m0", address: "a", isActive: true }] }, "stop-agent"],
    [
      "is refused before it changes anything while nothing has the CA's key",
      { hasCaKey: false, isDenied: false, changers: [healer] },
      "MIGRATE_KEY_MISSING",
    ],
    ["is done when nothing can change the cluster", {}, "done"],
  ])("%s", ([, changes, expected]) => expect(outcome(planFreeze({ ...frozen, ...changes }, record))).toBe(expected));
});

test("freeze names webhooks and APIServices that the hosted API server will have to reach", () => {
  const users = Array.from({ length: 12 }, (_, index) => `APIService v1.a${index}`);
  const facts = { isDenied: true, changers: [], agents: [], hasCaKey: true };
  const plan = planFreeze({ ...facts, called: [{ namespace: "n", name: "s", port: 443, users }] }, record);
  expect(plan.notes).toEqual([expect.stringMatching(/APIService v1\.a0, .*APIService v1\.a9 and 2 more: by a tunnel/)]);
  expect(planFreeze({ ...facts, called: [] }, record).notes).toBeUndefined();
  const ten = [{ namespace: "n", name: "s", port: 443, users: users.slice(0, 10) }];
  expect(planFreeze({ ...facts, called: ten }, record).notes?.[0]).toMatch(/APIService v1\.a9: by a tunnel/);
});

test("freeze does all of its steps at once, in an order that leaves no time for a change", () => {
  const changers = [{ kind: "DaemonSet", name: "magnum-auto-healer", state: "running", isOurs: false }] as const;
  const agents = ["m0", "m1"].map((name) => ({ name, address: "a", isActive: true }));
  const plan = planFreeze({ isDenied: false, changers, agents, hasCaKey: true, called: [] }, record);
  expect(plan.steps.map(({ type }) => type)).toEqual(["check-denied", "stop-workload", "stop-agent", "stop-agent"]);
  expect(plan.batch).toBe(4);
});
