import { expect, test } from "vitest";
import { admissionCluster, attemptOn, inVersions, NODES } from "../testing/attempts.ts";
import { admissionRequest } from "./request.ts";

const things = inVersions({ kind: "Thing", plural: "things", group: "x.io" }, { name: "v1" }, { name: "v2" });
const cluster = await admissionCluster();
const user = { name: "jane", groups: ["g"] };

test("a request of a subresource says what was requested and in which form it is reviewed", () => {
  const kind = { group: "autoscaling", version: "v1", kind: "Scale" };
  const options = { kind: "UpdateOptions" };
  const given = { operation: "UPDATE", name: "t", subresource: "scale", kind, options, dryRun: true, user } as const;
  const { attempt } = attemptOn(cluster, things, given);
  expect(admissionRequest(attempt, { resource: { ...things, plural: "others" }, version: { name: "v2" } })).toEqual({
    kind,
    resource: { group: "x.io", version: "v2", resource: "others" },
    subResource: "scale",
    requestKind: kind,
    requestResource: { group: "x.io", version: "v1", resource: "things" },
    requestSubResource: "scale",
    name: "t",
    namespace: "ns",
    operation: "UPDATE",
    userInfo: { username: "jane", groups: ["g"] },
    dryRun: true,
    options,
  });
});

test("a request without a name, a namespace and a subresource has none of them", () => {
  const { attempt } = attemptOn(cluster, NODES, { user });
  const form = { resource: NODES, version: { name: "v1" } };
  const kind = { group: "", version: "v1", kind: "Node" };
  const resource = { group: "", version: "v1", resource: "nodes" };
  expect(admissionRequest(attempt, form)).toEqual({
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    operation: "CREATE",
    userInfo: { username: "jane", groups: ["g"] },
    dryRun: false,
    options: null,
  });
});
