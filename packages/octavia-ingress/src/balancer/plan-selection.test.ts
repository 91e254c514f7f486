import type { LoadBalancer } from "@causeway/openstack";
import { expect, test } from "vitest";
import { selectBalancers } from "./plan-selection.ts";

const balancer = (id: string, created: string, more: Partial<LoadBalancer> = {}): LoadBalancer =>
  ({ id, created_at: created, tags: [], provisioning_status: "ACTIVE", ...more }) as LoadBalancer;
const ours = { tags: ["ours"] };

test.each<[title: string, all: readonly LoadBalancer[], found: readonly string[], leaving: readonly string[]]>([
  ["the oldest comes first", [balancer("b", "2"), balancer("a", "1")], ["a", "b"], []],
  [
    "one with the owner's tag comes before an older one",
    [balancer("a", "1"), balancer("b", "2", ours)],
    ["b", "a"],
    [],
  ],
  ["of one moment the lower id comes first", [balancer("b", "1"), balancer("a", "1")], ["a", "b"], []],
  [
    "one that is being deleted is not used",
    [balancer("a", "1", { provisioning_status: "PENDING_DELETE" }), balancer("b", "2")],
    ["b"],
    ["a"],
  ],
  [
    "the order in which they were listed does not count",
    [balancer("b", "2"), balancer("c", "3"), balancer("a", "1")],
    ["a", "b", "c"],
    [],
  ],
  [
    "one that is deleted is not used",
    [balancer("a", "1", { provisioning_status: "DELETED" as LoadBalancer["provisioning_status"] })],
    [],
    ["a"],
  ],
  ["none is found where there is none", [], [], []],
])("of an owner's load balancers %s", (_title, all, found, leaving) => {
  const selected = selectBalancers(all, { tag: "ours" });
  expect(selected.found.map(({ id }) => id)).toEqual(found);
  expect(selected.leaving.map(({ id }) => id)).toEqual(leaving);
});
