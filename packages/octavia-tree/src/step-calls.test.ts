import { expect, test } from "vitest";
import { treeCall } from "./step-calls.ts";

test.each([
  ["update-load-balancer", "PUT /loadbalancers/{id}"],
  ["create-listener", "POST /listeners"],
  ["delete-pool", "DELETE /pools/{id}"],
  ["replace-members", "PUT /pools/{id}/members"],
  ["delete-member", "DELETE /pools/{id}/members/{id}"],
  ["create-monitor", "POST /healthmonitors"],
  ["update-policy", "PUT /l7policies/{id}"],
  ["create-rule", "POST /l7policies/{id}/rules"],
] as const)("the step %s is shown as the call %s", (type, expected) => {
  const { method, route } = treeCall(type);
  expect(`${method} ${route}`).toBe(expected);
});
