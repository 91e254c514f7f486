import { CausewayError } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { nothingHeld } from "../testing/model-parts.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { isIndependent, isRefusal } from "./brake.ts";
import { loadBalancerDescription } from "./parameters/names.ts";
import { ownerTag } from "./ownership.ts";
import { plan } from "./plan.ts";
import type { OneStep, Step } from "./steps.ts";

const address: OneStep = { type: "create-floating-ip", networkId: "n", description: "", subnetIds: [] };
const members: OneStep = { type: "replace-members", poolId: "p", members: [] };
const removal: OneStep = {
  type: "delete-load-balancer",
  id: "l",
  cascade: true,
  event: { type: "Normal", reason: "", message: "" },
};
const second = (step: OneStep): Step => ({ type: "of-second", step });

test.each([
  ["CLOUD_DELETIONS_HELD", true],
  ["OPENSTACK_QUOTA_EXCEEDED", true],
  ["OPENSTACK_UNAVAILABLE", false],
])("whether the same step would be refused again after %s", (code, expected) => {
  expect(isRefusal(new CausewayError(code, "x"))).toBe(expected);
});

describe("a step that is held back", () => {
  test.each<[string, Step, Step, boolean]>([
    ["an address leaves members alone", members, address, true],
    ["an address leaves the members of the other family alone", second(members), address, true],
    ["an address of the second family leaves its members alone", second(members), second(address), true],
    ["an address of the second family leaves the first alone", members, second(address), true],
    ["members leave the other family alone", second(members), members, true],
    ["an address of one family leaves that of the other alone", second(address), address, true],
    ["members hold members of their own family", members, members, false],
    ["an address holds the deletion of its load balancer", removal, address, false],
    ["an address of the second holds the deletion of its load balancer", second(removal), second(address), false],
    ["an address holds the finalizer", { type: "remove-finalizer" }, address, false],
    ["an address of the second holds the finalizer", { type: "remove-finalizer" }, second(address), false],
    ["the finalizer's absence holds everything", second(members), { type: "add-finalizer" }, false],
  ])("%s", (_, later, held, independent) => {
    expect(isIndependent(later, held)).toBe(independent);
  });

  test.each<[string, (step: OneStep) => boolean]>([
    ["a rename", (step) => step.type === "update-pool"],
    ["a change of provider", (step) => step.type === "update-load-balancer"],
  ])("starves no member where it is %s", (what, isHeld) => {
    const nodes = [1, 2, 3].map((i) => aNode(`n${i}`, { address: `10.0.0.${i}` }));
    const w = new ModelWorld(aService(), nodes, { provider: "amphora" });
    w.converge();
    const renames = what === "a rename";
    if (!renames) w.change({}, { "loadbalancer.openstack.org/provider": "ovn" });
    w.nodes = nodes.slice(1);
    const observed = w.observe();
    const former = renames ? { formerName: observed.lbName } : {};
    const lbName = renames ? "kube_service_renamed_default_web" : observed.lbName;
    const braked = (step: OneStep) => (isHeld(step) ? 60_000 : undefined);
    const held = plan({ ...observed, ...former, lbName, held: { ...nothingHeld, braked } }, 0);
    expect(held.steps.map(({ type }) => type)).not.toContain("update-load-balancer");
    const free = plan({ ...observed, ...former, lbName }, 0).steps.at(-1);
    expect(free && isHeld(free as OneStep)).toBe(true);
    const next = held.steps.at(-1)?.type;
    // Of a renamed cluster the listener gets its tag before its members.
    expect(renames ? ["update-listener", "replace-members"] : ["replace-members"]).toContain(next);
  });
});

test("a renamed cluster on a cloud whose Octavia has no tags renames names alone", () => {
  const w = new ModelWorld(aService(), [aNode("n1", { address: "10.0.0.1" })], { provider: "amphora" });
  w.version = "2.4";
  w.converge();
  const { lbName: formerName, ...observed } = w.observe();
  const lbName = "kube_service_renamed_default_web";
  const steps = plan({ ...observed, pools: [], listeners: [], formerName, lbName, clusterName: "renamed" }, 0).steps;
  const description = loadBalancerDescription("renamed", observed.service);
  const [lb] = observed.loadBalancers;
  expect(lb?.tags).toEqual([]);
  expect(steps).toContainEqual({ type: "update-load-balancer", id: lb?.id, change: { name: lbName, description } });
  expect(JSON.stringify(steps)).not.toContain(ownerTag("renamed", observed.service));
});
