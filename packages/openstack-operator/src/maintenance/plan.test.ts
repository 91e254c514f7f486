import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { node, NOW, ours, planOf, server, service } from "../testing/maintained.ts";

describe("a compute node that is cordoned", () => {
  const cordoned = [node("a", { cordoned: true })];
  test.each([
    ["first takes no more servers", service("a"), [server("1")], ["disable a"], ["Moving"]],
    [
      "has as many servers moved at a time as the limit says",
      service("a", ours),
      ["1", "2", "3"].map((id) => server(id)),
      ["live-migrate 1", "live-migrate 2"],
      ["Moving"],
    ],
    [
      "counts those that move already",
      service("a", ours),
      [server("1", { task: "migrating" }), server("2"), server("3")],
      ["live-migrate 2"],
      ["Moving"],
    ],
    ["moves stopped servers cold", service("a", ours), [server("1", { status: "SHUTOFF" })], ["migrate 1"], ["Moving"]],
    [
      "keeps its guard while a server is left that cannot move",
      service("a", ours),
      [server("1", { status: "ERROR" })],
      [],
      ["Blocked"],
    ],
    ["is given free when it is empty", service("a", ours), [], ["release a"], ["Empty"]],
    [
      "is given free when an administrator disabled it, whose reason is kept",
      service("a", { isEnabled: false, reason: "disk" }),
      [],
      ["release a"],
      ["Empty"],
    ],
  ])("%s", (_, of, servers, steps, phases) => {
    expect(planOf(cordoned, [of], servers)).toMatchObject({ steps, phases });
  });

  test("waits for its turn behind another one of its zone, and not behind one of another", () => {
    const nodes = [node("a", { cordoned: true }), node("b", { cordoned: true }), node("c", { cordoned: true })];
    const services = [service("a", ours), service("b"), service("c", { zone: "az2" })];
    expect(planOf(nodes, services, [server("1")])).toMatchObject({
      steps: ["live-migrate 1", "disable c"],
      phases: ["Moving", "Waiting", "Moving"],
    });
  });

  test("orders a server that remained again only later, and says so after three times", () => {
    const attempts = (at: number, count: number) => ({ attempts: new Map([["1", { at, count }]]) });
    expect(planOf(cordoned, [service("a", ours)], [server("1")], attempts(970_000, 1)).steps).toEqual([]);
    expect(planOf(cordoned, [service("a", ours)], [server("1")], attempts(930_000, 1)).steps).toEqual([
      "live-migrate 1",
    ]);
    const third = planOf(cordoned, [service("a", ours)], [server("1")], attempts(900_000, 3));
    expect(third).toMatchObject({ steps: [], phases: ["Blocked"], events: [{ reason: "ServerStays" }] });
  });
});

describe("a compute node that is back", () => {
  test.each([
    ["is enabled when the operator disabled it", ours, {}, ["enable a"]],
    ["remains disabled when an administrator disabled it", { isEnabled: false, reason: "disk" }, {}, []],
    [
      "is held before it takes servers",
      ours,
      { held: new Set<string>(), guards: new Set<string>() },
      ["hold a", "guard a"],
    ],
    ["is up again first after a fencing", { ...ours, isForcedDown: true }, {}, ["force-up a"]],
  ])("%s", (_, of, more, steps) => {
    expect(planOf([node("a")], [service("a", of)], [], more).steps).toEqual(steps);
  });
});

describe("a compute node that is lost", () => {
  const lost = { ready: false, lostAt: 600_000 };
  const fenced = { ...lost, fenced: true };
  const down = { isEnabled: false, reason: "causeway: node a is fenced", isForcedDown: true };
  test.each([
    ["is not touched while it may only flap", node("a", { ready: false, lostAt: 900_000 }), service("a"), [], []],
    ["is reported and not evacuated while it is not fenced", node("a", lost), service("a"), [], ["Unreachable"]],
    ["takes no servers once it is fenced", node("a", fenced), service("a"), ["disable a"], ["Evacuating"]],
    [
      "is forced down next",
      node("a", fenced),
      service("a", { ...down, isForcedDown: false }),
      ["force-down a"],
      ["Evacuating"],
    ],
    ["is evacuated then", node("a", fenced), service("a", down), ["evacuate 1"], ["Evacuating"]],
  ])("%s", (_, of, its, steps, phases) => {
    expect(planOf([of], [its], [server("1")])).toMatchObject({ steps, phases });
  });
});

test("no server is evacuated from a node that is not fenced, and no guard released while a server is on its node", () => {
  const statuses = fc.constantFrom("ACTIVE", "SHUTOFF", "ERROR", "PAUSED", "RESCUE");
  const nodes = fc.record({ cordoned: fc.boolean(), ready: fc.boolean(), fenced: fc.boolean() });
  const state = fc.record({ isEnabled: fc.boolean(), isForcedDown: fc.boolean(), mine: fc.boolean() });
  fc.assert(
    fc.property(nodes, state, fc.array(statuses, { maxLength: 4 }), (of, its, all) => {
      const one = node("a", { ...of, lostAt: of.ready ? undefined : 0 });
      const servers = all.map((status, index) => server(String(index), { status }));
      const reason = its.mine ? "causeway: x" : "x";
      const { steps } = planOf([one], [service("a", { ...its, reason: its.isEnabled ? "" : reason })], servers);
      const kinds = steps.map((each) => each.split(" ")[0]);
      if (!of.fenced || of.ready) expect(kinds).not.toContain("evacuate");
      if (servers.length > 0) expect(kinds).not.toContain("release");
      if (!its.mine && !its.isEnabled) expect(kinds).not.toContain("enable");
      if (!of.cordoned && !of.fenced) expect(kinds).not.toContain("disable");
    }),
  );
});

describe("a compute node that was removed from the cluster", () => {
  const removed = new Set(["gone"]);
  const off = { isUp: false };
  const ourOff = { ...off, isEnabled: false, reason: "causeway: node gone was removed" };
  const agent = (isAlive: boolean) => ({ id: "agent", host: "gone", isAlive });
  test.each([
    ["takes no more servers first", service("gone", off), [], [], ["disable gone"], "Removing"],
    [
      "is held while a server is on it",
      service("gone", ourOff),
      [server("1", { host: "gone" })],
      [agent(false)],
      [],
      "Blocked",
    ],
    ["is held while its compute still runs", service("gone", { ...ourOff, isUp: true }), [], [], [], "Removing"],
    ["is held while an agent of it still runs", service("gone", ourOff), [], [agent(true)], [], "Removing"],
    ["is deleted when it is off and empty", service("gone", ourOff), [], [agent(false)], ["remove gone"], "Removing"],
    [
      "is deleted when an administrator had disabled it",
      service("gone", { ...off, isEnabled: false, reason: "broken fan" }),
      [],
      [],
      ["remove gone"],
      "Removing",
    ],
  ])("%s", (_, own, servers, agents, steps, phase) => {
    const plan = planOf([], [own], [], { nova: { services: [own], servers, agents }, removed });
    expect(plan.steps).toEqual(steps);
    expect(plan.phases).toEqual([phase]);
  });

  test("that neither Nova nor Kubernetes has loses its budget alone", () => {
    expect(planOf([], [], [], { orphans: ["cloud-guard-1"] }).steps).toEqual(["forget cloud-guard-1"]);
  });

  test("is left alone when it never was a node", () => {
    expect(planOf([], [service("elsewhere", off)], [])).toMatchObject({ steps: [], phases: [] });
  });
});

test("a node that serves is held and guarded, and none that is cordoned or away", () => {
  const nodes = [node("a"), node("b", { cordoned: true }), node("c", { ready: false, lostAt: NOW })];
  const none = { held: new Set<string>(), guards: new Set<string>() };
  const services = nodes.map(({ name }) => service(name));
  expect(planOf(nodes, services, [], none).steps.filter((step) => /hold|guard/.test(step))).toEqual([
    "hold a",
    "guard a",
  ]);
  expect(planOf([node("a")], services, [], { ...none, held: new Set(["a"]) }).steps).toEqual(["guard a"]);
  expect(planOf([node("a")], services, [], { ...none, guards: new Set(["a"]) }).steps).toEqual(["hold a"]);
  const controls = [node("a"), node("z")];
  expect(planOf([node("a")], services, [], { ...none, controls }).steps).toEqual([
    "hold a",
    "guard a",
    "hold z",
    "guard z",
  ]);
});
