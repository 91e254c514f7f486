import { expect, test } from "vitest";
import { renderPlan, type PrintedPlan } from "./render.ts";

const nothing: PrintedPlan = { rounds: [], complete: true, wait: undefined, events: [], status: {} };

test("a plan that renames a load balancer of another cluster name begins with a warning", () => {
  expect(renderPlan(nothing)).toBe("status {}\nnothing to do\n");
  const [first] = renderPlan({ ...nothing, formerName: "kube_service_prod_default_web" }).split("\n");
  expect(first).toBe(
    "warning: the load balancer is kube_service_prod_default_web, of another cluster name: unless the cluster was renamed, give its own with --cluster-name",
  );
});
