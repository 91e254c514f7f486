import type { LoadBalancer } from "@causeway/openstack";
import { expect, test } from "vitest";
import { aService } from "../testing/objects.ts";
import { ownerTag } from "./ownership.ts";
import { retiringName } from "./parameters/names.ts";
import { candidatesOf, type CandidateLists } from "./plan-candidates.ts";

const NAME = "kube_service_demo_default_web";
const service = aService();
const lb = (id: string, name = NAME, status = "ACTIVE", tags: readonly string[] = []): LoadBalancer =>
  ({ id, name, provisioning_status: status, tags }) as LoadBalancer;
const anothers = { ...service, metadata: { ...service.metadata, name: "other", uid: "other" } };

test.each<[title: string, lists: Partial<CandidateLists>, expected: readonly string[]]>([
  ["of its name", { named: [lb("a")] }, ["a"]],
  ["of its name rather than of its old name", { named: [lb("a")], old: [lb("b", "old")] }, ["a"]],
  ["of its old name where none has its name", { old: [lb("b", "old")] }, ["b"]],
  ["of its name although it is being deleted", { named: [lb("a", NAME, "PENDING_DELETE")] }, ["a"]],
  ["none that is deleted", { named: [lb("a", NAME, "DELETED")], old: [lb("b", "old", "DELETED")] }, []],
  [
    "none of its name that another Service owns",
    { named: [lb("a", NAME, "ACTIVE", [ownerTag("demo", anothers)])] },
    [],
  ],
  ["by the annotated ID, whatever its name", { annotated: lb("x", "renamed"), named: [lb("a")] }, ["x"]],
  ["by the annotated ID, with others of its name", { annotated: lb("x"), named: [lb("x"), lb("a")] }, ["x", "a"]],
  [
    "of its name where the annotated one is being deleted",
    { annotated: lb("x", "renamed", "PENDING_DELETE"), named: [lb("a")] },
    ["a"],
  ],
  [
    "the annotated one that is being deleted, where there is no other",
    { annotated: lb("x", "n", "PENDING_DELETE") },
    ["x"],
  ],
  ["not the annotated one that is replaced", { annotated: lb("x", retiringName(NAME)), old: [lb("b", "old")] }, ["b"]],
  ["none where there is none", {}, []],
])("a Service has the load balancer %s", (_title, lists, expected) => {
  const found = candidatesOf({ annotated: undefined, named: [], old: [], ...lists }, service, NAME);
  expect(found.map(({ id }) => id)).toEqual(expected);
});
