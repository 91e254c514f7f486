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

test("a plan prints of a status only what differs from the published one", () => {
  const condition = { type: "Ready", status: "True" };
  const published = { ready: false, network: { id: "n" }, conditions: [condition, { type: "Paused", status: "True" }] };
  const status = { network: { id: "n" }, conditions: [{ type: "Paused", status: "False" }, condition], port: "p" };
  expect(renderPlan({ ...nothing, published, status })).toBe(
    `status:
    ~ ready: false -> (unset)
    ~ conditions[Paused].status: "True" -> "False"
    ~ port: (unset) -> "p"
nothing to do
`,
  );
  const addresses = (...list: readonly string[]) => ({
    addresses: list.map((address) => ({ type: "InternalIP", address })),
  });
  expect(renderPlan({ ...nothing, published: addresses("a", "b"), status: addresses("c", "b") })).toContain(
    '~ addresses[0].address: "a" -> "c"',
  );
  expect(renderPlan({ ...nothing, published, status: published })).toBe("status does not change\nnothing to do\n");
});
