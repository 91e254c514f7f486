import { describe, expect, test } from "vitest";
import { callsOf } from "./step-calls.ts";
import type { Step } from "./steps.ts";

const routes = (step: Step) => callsOf(step).map(({ method, route }) => `${method} ${route}`);

describe("the preview of a step of a Service", () => {
  test.each<[Step, string[]]>([
    [{ type: "create-load-balancer", body: { name: "n" } }, ["GET /loadbalancers?name={name}", "POST /loadbalancers"]],
    [{ type: "update-load-balancer", id: "l", change: {} }, ["PUT /loadbalancers/{id}"]],
    [{ type: "delete-listener", id: "l" }, ["DELETE /listeners/{id}"]],
    [{ type: "replace-members", poolId: "p", members: [] }, ["PUT /pools/{id}/members"]],
    [{ type: "delete-member", poolId: "p", id: "m" }, ["DELETE /pools/{id}/members/{id}"]],
    [{ type: "update-monitor", id: "m", poolId: "p", change: {} }, ["PUT /healthmonitors/{id}"]],
    [{ type: "attach-floating-ip", id: "f", portId: "p" }, ["PUT /floatingips/{id}"]],
    [{ type: "add-finalizer" }, ["PATCH /services/{name}"]],
  ])("shows the calls of %o", (step, expected) => {
    expect(routes(step)).toEqual(expected);
  });
});
