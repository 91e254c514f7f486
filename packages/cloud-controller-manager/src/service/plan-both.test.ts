import { describe, expect, test } from "vitest";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { lbTags } from "./tree/create-body.ts";
import type { Observed } from "./observed.ts";
import { planBoth } from "./plan-both.ts";

const former = "kube_service_before_default_web";

/** A served Service; only its load balancer still has the name from before the cluster was renamed. */
function almostRenamed(changes: object = {}): Observed {
  const world = new ModelWorld(aService(), [aNode("n1", { address: "10.0.0.1" })]);
  world.converge();
  const observed = world.observe();
  const loadBalancers = observed.loadBalancers.map((lb) => ({ ...lb, name: former, tags: [former], ...changes }));
  return { ...observed, loadBalancers, formerName: former };
}

function renamed(): Observed {
  const observed = almostRenamed();
  const loadBalancers = observed.loadBalancers.map((lb) => ({ ...lb, name: observed.lbName, tags: lbTags(observed) }));
  return { ...observed, loadBalancers, formerName: undefined };
}

const typesOf = (observed: Observed): string[] =>
  planBoth(observed, 0).steps.map((step) => (step.type === "of-second" ? `second: ${step.step.type}` : step.type));

describe("while a cluster's new name spreads over both load balancers of a Service", () => {
  test("the first keeps its old name, by which the second is found, until that has the new one", () => {
    expect(typesOf({ ...almostRenamed(), second: almostRenamed() })).toEqual(["second: update-load-balancer"]);
    expect(typesOf({ ...almostRenamed(), second: renamed() })).toEqual(["update-load-balancer"]);
    expect(typesOf({ ...almostRenamed(), second: undefined })).toEqual(["update-load-balancer"]);
  });

  test("the plan waits for a second one that cannot be changed yet, also when that would have notes of its own to write", () => {
    const second = almostRenamed({ provisioning_status: "PENDING_UPDATE" });
    const { annotations: _, ...metadata } = second.service.metadata;
    const plan = planBoth({ ...almostRenamed(), second: { ...second, service: { ...second.service, metadata } } }, 0);
    expect(plan.steps).toEqual([]);
    expect(plan.wait?.for).toMatch(/to be ACTIVE/);
  });
});
