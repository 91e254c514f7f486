import { describe, expect, test } from "vitest";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { nodesLeft } from "./members-left.ts";
import { NodesLeft } from "./memory/nodes-left.ts";
import type { Observed } from "./observed.ts";

const [a, b] = [aNode("a", { address: "10.0.0.1" }), aNode("b", { address: "10.0.0.2" })];
/** A load balancer with member a alone. */
function observed(changes: (seen: Observed) => Partial<Observed> = () => ({})): Observed {
  const finalizers = ["service.kubernetes.io/load-balancer-cleanup"];
  const world = new ModelWorld(aService({}, {}, { finalizers }), [a]);
  world.converge();
  const seen = world.observe();
  return { ...seen, ...changes(seen) };
}
const status = (provisioning_status: "PENDING_UPDATE" | "ERROR") => (seen: Observed) => ({
  loadBalancers: seen.loadBalancers.map((lb) => ({ ...lb, provisioning_status })),
});

describe("of two excluded Nodes a load balancer that has a as a member", () => {
  const nodes = (seen: Observed) => nodesLeft(seen, [a, b])?.map(({ metadata }) => metadata.name);
  test.each<[string, Observed, string[] | undefined]>([
    ["has left b alone", observed(), ["b"]],
    ["may have either while it is changed", observed(status("PENDING_UPDATE")), undefined],
    ["may have either in ERROR", observed(status("ERROR")), undefined],
    [
      "may have either before a list shows it ACTIVE",
      observed(({ held }) => ({ held: { ...held, expectedActive: 1 } })),
      undefined,
    ],
    [
      "may have either next to one that retires",
      observed(({ loadBalancers }) => ({ retiring: loadBalancers })),
      undefined,
    ],
    ["may have either next to one that goes", observed(({ loadBalancers }) => ({ leaving: loadBalancers })), undefined],
    [
      "may have either next to one of its name",
      observed(({ loadBalancers: [lb] }) => ({ loadBalancers: lb ? [lb, lb] : [] })),
      undefined,
    ],
    ["may have either while no Service has proof of it", observed(() => ({ unproved: "whose?" })), undefined],
    [
      "counts with that of the other family",
      observed((seen) => ({ loadBalancers: [], pools: [], second: seen })),
      ["b"],
    ],
    [
      "may have either while that of the other family is changed",
      observed((seen) => ({ second: { ...seen, ...status("PENDING_UPDATE")(seen) } })),
      undefined,
    ],
    ["has left both when it is gone", observed(() => ({ loadBalancers: [], pools: [] })), ["a", "b"]],
    [
      "may be there when the response to its create was lost",
      observed(({ held }) => ({ loadBalancers: [], pools: [], held: { ...held, uncertain: 1 } })),
      undefined,
    ],
  ])("%s", (_, seen, left) => expect(nodes(seen)).toEqual(left));
});

describe("an excluded Node has left all load balancers", () => {
  const of = (...services: string[]) => {
    const left = new NodesLeft();
    let changes = 0;
    left.onChange(() => (changes += 1));
    left.ofServices(() => services);
    return { left, changes: () => changes };
  };
  test("when each Service has been seen without it, and not before", () => {
    const { left, changes } = of("default/one", "default/two");
    left.report("default/one", [a], [a]);
    expect([left.has(a), changes()]).toEqual([false, 1]);
    left.report("default/two", [a], []);
    expect([left.has(a), changes()]).toEqual([false, 1]);
    left.report("default/two", [a], [a]);
    expect([left.has(a), changes()]).toEqual([true, 2]);
  });
  test("not before the Services have been read", () => {
    expect(new NodesLeft().has(a)).toBe(false);
  });
  test("where there are no Services", () => {
    expect(of().left.has(a)).toBe(true);
  });
  test("still while one of them is changed, and no more once it is not excluded", () => {
    const { left, changes } = of("default/one");
    left.report("default/one", [a], [a]);
    left.report("default/one", [a], undefined);
    expect([left.has(a), changes()]).toEqual([true, 1]);
    left.report("default/one", [], undefined);
    left.report("default/one", [a], undefined);
    expect([left.has(a), changes()]).toEqual([false, 2]);
  });
  test("when the Service that had it is gone", () => {
    const services = ["default/one", "default/two"];
    const { left, changes } = of(...services);
    left.report("default/one", [a], [a]);
    left.report("default/two", [a], []);
    const after = new NodesLeft();
    after.ofServices(() => ["default/one"]);
    after.report("default/one", [a], [a]);
    expect([left.has(a), after.has(a), changes()]).toEqual([false, true, 1]);
    left.forget("default/one");
    expect(changes()).toBe(2);
  });
});
