import { expect, test } from "vitest";
import { nothingHeld } from "../testing/model-parts.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { planRelease } from "./plan-release.ts";

function deleted(): ModelWorld {
  const world = new ModelWorld(aService(), [aNode("n1", { address: "10.0.0.1" })]);
  world.converge();
  world.delete();
  return world;
}

const typesAt = (now: number, busy: number | undefined): string[] =>
  planRelease({ ...deleted().observe(), held: { ...nothingHeld, busy } }, now).steps.map((step) => step.type);

test("a load balancer that refused a change is not deleted before its time, the floating IP is", () => {
  const held = { ...nothingHeld, busy: 500 };
  const plan = planRelease({ ...deleted().observe(), held }, 499);
  expect(plan.steps.map((step) => step.type)).not.toContain("delete-load-balancer");
  expect(plan.wait).toMatchObject({ until: 500, for: expect.stringMatching(/to be changeable$/) as string });
});

test.each<[number, number | undefined]>([
  [500, 500],
  [501, 500],
  [0, undefined],
])("at %s a load balancer that is busy until %s is deleted", (now, busy) => {
  expect(typesAt(now, busy)).toContain("delete-load-balancer");
});

test("a load balancer with a change under way is waited for a minute", () => {
  const world = deleted();
  world.balancers = world.balancers.map((lb) => ({ ...lb, provisioning_status: "PENDING_UPDATE" }));
  const plan = planRelease(world.observe(), 1000);
  expect(plan.steps.map((step) => step.type)).not.toContain("delete-load-balancer");
  expect(plan.wait?.until).toBe(61_000);
});
