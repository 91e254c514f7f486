import { expect, test } from "vitest";
import type { Attributes, Decision } from "../contract/attributes.ts";
import { clusterWith } from "../testing/objects.ts";
import { authorizer } from "./authorize.ts";
import type { Rbac } from "./rbac.ts";

const ASKED = { verb: "get", namespace: "ns", group: "", version: "v1", plural: "secrets", subresource: "", name: "s" };
const cluster = await clusterWith({
  "/pods": [
    {
      metadata: { name: "p", namespace: "ns" },
      spec: { nodeName: "n", volumes: [{ secret: { secretName: "used" } }] },
    },
  ],
});

/** The decision, and whether RBAC was called. */
function decided(user: Attributes["user"], byRules: Decision, more: Partial<Attributes> = {}) {
  let isAsked = false;
  const rbac = {
    decide: () => {
      isAsked = true;
      return byRules;
    },
  } as unknown as Rbac;
  return { ...authorizer(cluster, rbac)({ user, ...ASKED, ...more }), isAsked };
}

const NO = { allowed: false, reason: "" };
const YES = { allowed: true, reason: "RBAC: yes" };
const node = { name: "system:node:n", groups: ["system:nodes"] };

test("system:masters may do anything", () => {
  const root = { name: "root", groups: ["a", "system:masters"] };
  expect(decided(root, NO)).toEqual({ allowed: true, reason: "", isAsked: false });
});

test("a node may read what its pods need", () => {
  expect(decided(node, NO, { name: "used" })).toMatchObject({ allowed: true, isAsked: false });
});

test("others may do what rules allow", () => {
  expect(decided({ name: "jane", groups: [] }, YES)).toEqual({ ...YES, isAsked: true });
  expect(decided(node, YES)).toEqual({ ...YES, isAsked: true });
});

test("a refusal has all reasons there are", () => {
  const { reason, allowed } = decided(node, { allowed: false, reason: "RBAC: no" });
  const byNode = decided(node, NO).reason;
  expect(byNode).not.toBe("");
  expect([allowed, reason]).toEqual([false, `${byNode}\nRBAC: no`]);
  expect(decided({ name: "jane", groups: [] }, { allowed: false, reason: "RBAC: no" }).reason).toBe("RBAC: no");
  expect(decided({ name: "jane", groups: [] }, NO)).toEqual({ ...NO, isAsked: true });
});
