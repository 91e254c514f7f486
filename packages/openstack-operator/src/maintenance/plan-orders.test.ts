/** What the plan of a maintenance orders and says in full. */
import { describe, expect, test } from "vitest";
import { node, NOW, ours, planOf, server, service } from "../testing/maintained.ts";
import type { ComputeNode, ComputeService, HostedServer, NodeMaintenance, Observed } from "./model.ts";
import { isClear } from "./plan.ts";

describe("the plan of a maintenance", () => {
  const cordoned = node("a", { cordoned: true });
  const away = { ready: false, lostAt: 600_000 };
  const fenced = node("a", { ...away, fenced: true });
  const forced = { isEnabled: false, reason: "causeway: node a is fenced", isForcedDown: true };
  const one = { name: "a", service: "s-a" };
  type Row = readonly [
    title: string,
    node: ComputeNode,
    service: ComputeService,
    servers: readonly HostedServer[],
    steps: readonly object[],
    state: readonly [phase: string, servers: number, message: string],
  ];

  test.each<Row>([
    [
      "disables the compute of a cordoned node, with a reason",
      cordoned,
      service("a"),
      [server("1")],
      [{ type: "disable", ...one, reason: "causeway: node a is cordoned" }],
      ["Moving", 1, "takes no more servers"],
    ],
    [
      "moves servers that run live, also paused ones, and counts those that move",
      cordoned,
      service("a", ours),
      [server("3", { task: "migrating" }), server("2", { status: "PAUSED" }), server("1", { host: "b" })],
      [{ type: "live-migrate", name: "2", node: "a" }],
      ["Moving", 2, "2 servers are left, 2 move"],
    ],
    [
      "orders no server away while more move than the limit",
      cordoned,
      service("a", ours),
      ["1", "2", "3"].map((id) => server(id, { task: "migrating" })).concat(server("4"), server("5")),
      [],
      ["Moving", 5, "5 servers are left, 3 move"],
    ],
    [
      "names the server that is to be started, stopped or deleted, and moves the others",
      cordoned,
      service("a", ours),
      [server("1", { status: "ERROR" }), server("2")],
      [{ type: "live-migrate", name: "2", node: "a" }],
      ["Moving", 2, "server 1 (1) is ERROR: start, stop or delete it"],
    ],
    [
      "lets an empty node be drained",
      cordoned,
      service("a", ours),
      [],
      [{ type: "release", name: "a" }],
      ["Empty", 0, "no server is on it: it may be drained"],
    ],
    [
      "counts the servers of a lost node, and says how it is fenced",
      node("a", away),
      service("a"),
      [server("1"), server("2", { host: "b" })],
      [],
      [
        "Unreachable",
        1,
        "not ready, with 1 servers: nothing is evacuated before the node is off; then taint it node.kubernetes.io/out-of-service",
      ],
    ],
    [
      "disables the compute of a fenced node, with a reason",
      fenced,
      service("a"),
      [server("1")],
      [{ type: "disable", ...one, reason: "causeway: node a is fenced" }],
      ["Evacuating", 1, "is fenced"],
    ],
    [
      "forces the compute of a fenced node down",
      fenced,
      service("a", { ...forced, isForcedDown: false }),
      [server("1")],
      [{ type: "force-down", ...one }],
      ["Evacuating", 1, "is fenced"],
    ],
    [
      "evacuates servers of a fenced node, whatever they did, but those that nothing can rebuild",
      fenced,
      service("a", forced),
      ["SHUTOFF", "ERROR", "RESCUE"].map((status, at) => server(String(at), { status })),
      ["0", "1"].map((name) => ({ type: "evacuate", name, node: "a" })),
      ["Evacuating", 3, "server 2 (2) is RESCUE: start, stop or delete it"],
    ],
    [
      "evacuates paused servers",
      fenced,
      service("a", forced),
      [server("1", { status: "PAUSED" })],
      [{ type: "evacuate", name: "1", node: "a" }],
      ["Evacuating", 1, "1 servers are left, 1 move"],
    ],
    [
      "reports that an evacuated node is empty",
      fenced,
      service("a", forced),
      [],
      [],
      ["Evacuated", 0, "no server is on it"],
    ],
    [
      "begins with a fenced node at once, also where it may only flap",
      node("a", { ready: false, lostAt: NOW - 1, fenced: true }),
      service("a"),
      [],
      [{ type: "disable", ...one, reason: "causeway: node a is fenced" }],
      ["Evacuating", 0, "is fenced"],
    ],
    [
      "reports a lost node from the end of its time on",
      node("a", { ready: false, lostAt: NOW - 300_000 }),
      service("a"),
      [],
      [],
      ["Unreachable", 0, expect.stringContaining("with 0 servers")],
    ],
    [
      "has the compute of a node that is back up again",
      node("a"),
      service("a", forced),
      [],
      [{ type: "force-up", ...one }],
      ["Returning", 0, "is back"],
    ],
    [
      "has a node that serves take servers again",
      node("a"),
      service("a", ours),
      [],
      [{ type: "enable", ...one }],
      ["Returning", 0, "takes servers again"],
    ],
  ])("%s", (_, of, its, servers, steps, [phase, count, message]) => {
    const { full } = planOf([of], [its], servers);
    expect(full.steps).toEqual(steps);
    expect(full.states).toEqual([{ node: "a", phase, servers: count, message }]);
    expect(full.until).toBe(NOW + 10_000);
  });

  test.each<[string, ComputeNode, ComputeService]>([
    ["that is fenced and ready", node("a", { fenced: true }), service("a", forced)],
    [
      "that is not ready, and whose compute it disabled",
      node("a", { ready: false, lostAt: NOW - 1 }),
      service("a", ours),
    ],
    ["whose compute another forced down", node("a"), service("a", { isForcedDown: true })],
    ["that serves in a cell that cannot be read", node("a"), service("a", { isUnknown: true })],
  ])("changes nothing of a node %s", (_, of, its) => {
    const { full, events } = planOf([of], [its], []);
    expect({ steps: full.steps, status: full.status, events }).toEqual({ steps: [], status: {}, events: [] });
  });

  test("has an event for a lost node that is not fenced, with what to do", () => {
    const { full, events } = planOf([node("a", away)], [service("a")], [server("1")]);
    const message = `node a is ${full.states[0]?.message}`;
    expect(events).toEqual([{ type: "Warning", reason: "ComputeUnreachable", message }]);
  });

  test("orders servers away by their ids", () => {
    const servers = ["3", "1", "2"].map((id) => server(id));
    expect(planOf([cordoned], [service("a", ours)], servers).steps).toEqual(["live-migrate 1", "live-migrate 2"]);
  });

  test("holds a lost node whose cell cannot be read", () => {
    const { full } = planOf([node("a", away)], [service("a", { isUnknown: true })], [server("1")]);
    expect(full).toMatchObject({ steps: [], states: [{ phase: "Blocked", servers: 0 }] });
    expect(full.states[0]?.message).toContain("it is not known which servers are on it");
  });

  test("holds a node first where its guard or its budget is missing", () => {
    for (const missing of [{ guards: new Set<string>() }, { held: new Set<string>() }])
      expect(planOf([node("a")], [service("a", ours)], [], missing).full.states).toEqual([
        { node: "a", phase: "Returning", servers: 0, message: "is held again first" },
      ]);
  });

  test("releases an empty node once", () => {
    const { full } = planOf([cordoned], [service("a", ours)], [], { held: new Set<string>() });
    expect(full).toMatchObject({ steps: [], states: [{ phase: "Empty" }] });
  });
});

describe("servers that remain on a cordoned node", () => {
  const of = (attempts: Readonly<Record<string, { at: number; count: number }>>, ...servers: HostedServer[]) =>
    planOf([node("a", { cordoned: true })], [service("a", ours)], servers, {
      attempts: new Map(Object.entries(attempts)),
    });

  test.each([
    [1, 60_000],
    [2, 120_000],
    [4, 480_000],
    [6, 1_800_000],
    [20, 1_800_000],
  ])("are ordered away again, after %d attempts, %d ms after the last one", (count, pause) => {
    expect(of({ 1: { at: NOW - pause, count } }, server("1")).steps).toEqual(["live-migrate 1"]);
    expect(of({ 1: { at: NOW - pause + 1, count } }, server("1")).steps).toEqual([]);
  });

  test("are named from the third attempt on, and block the node once no other one is left", () => {
    const problem = "server 1 (1) was ordered away 3 times and is still here";
    const event = { type: "Warning", reason: "ServerStays", message: `node a: ${problem}` };
    const tried = { 1: { at: NOW, count: 3 } };
    const alone = of(tried, server("1"));
    expect(alone).toMatchObject({ phases: ["Blocked"], events: [event] });
    expect(alone.full.states[0]?.message).toBe(problem);
    expect(of(tried, server("1"), server("2"))).toMatchObject({ phases: ["Moving"], events: [event] });
    expect(of({ 1: { at: NOW, count: 2 } }, server("1"))).toMatchObject({ phases: ["Moving"], events: [] });
    const stuck = "server 2 (2) is ERROR: start, stop or delete it";
    const both = of(tried, server("1"), server("2", { status: "ERROR" }));
    expect(both.full.states[0]).toMatchObject({ phase: "Blocked", servers: 2, message: `${stuck}; ${problem}` });
  });
});

describe("the turn of cordoned nodes of one zone", () => {
  const turns = (names: readonly string[], underWay: readonly string[], nodes = 1) => {
    const cordoned = names.map((name) => node(name, { cordoned: true }));
    const services = names.map((name) => service(name, underWay.includes(name) ? ours : {}));
    const { steps, full } = planOf(cordoned, services, [], { limits: { nodes, moves: 2, flap: 300_000 } });
    return { steps, waiting: full.states.filter(({ phase }) => phase === "Waiting") };
  };
  const waits = (name: string, limit = 1) => ({
    node: name,
    phase: "Waiting",
    servers: 0,
    message: `${limit} of the zone az1 are in maintenance: its turn comes after them`,
  });

  test.each([
    ["is by name", ["b", "a"], [], 1, ["disable a"], [waits("b")]],
    ["is by name, whatever their order", ["a", "b"], [], 1, ["disable a"], [waits("b")]],
    ["is that of those under way first", ["a", "b"], ["b"], 1, ["release b"], [waits("a")]],
    ["does not end for those under way beyond the limit", ["a", "b"], ["a", "b"], 1, ["release a", "release b"], []],
    ["is that of as many as the limit says", ["c", "b", "a"], [], 2, ["disable b", "disable a"], [waits("c", 2)]],
  ])("%s", (_, names, underWay, limit, steps, waiting) => {
    expect(turns(names, underWay, limit)).toEqual({ steps, waiting });
  });
});

describe("the removal of a host", () => {
  const removed = new Set(["gone"]);
  const disabled = service("gone", { isUp: false, isEnabled: false, reason: "causeway: node gone was removed" });
  const of = (
    its: readonly ComputeService[],
    servers: HostedServer[],
    agents: { isAlive: boolean; host?: string }[] = [],
  ) =>
    planOf([], [], [], {
      nova: {
        services: its,
        servers,
        agents: agents.map((each, at) => ({ id: `agent-${at}`, host: "gone", ...each })),
      },
      removed,
    });

  test("orders with ids and a reason, and says what it waits for", () => {
    const state = { node: "gone", servers: 0 };
    const on = service("gone");
    expect(of([on], []).full).toMatchObject({
      steps: [{ type: "disable", name: "gone", service: "s-gone", reason: "causeway: node gone was removed" }],
      states: [{ ...state, phase: "Removing", message: "takes no more servers" }],
    });
    expect(of([{ ...disabled, isUp: true }], []).full.states).toEqual([
      { ...state, phase: "Removing", message: "its processes still run: nothing is deleted before they are gone" },
    ]);
    const last = of([disabled], [server("1", { host: "b" })], [{ isAlive: false }, { isAlive: true, host: "b" }]);
    expect(last.full).toMatchObject({
      steps: [{ type: "remove", name: "gone", service: "s-gone", agents: ["agent-0"] }],
      states: [{ ...state, phase: "Removing", message: "its service, provider and agents are deleted" }],
    });
  });

  test("waits for servers that are still on it, with an event", () => {
    const { events, full } = of([disabled], [server("1", { host: "gone" })]);
    const message = "the node was removed, and 1 servers are still on it: delete or evacuate them";
    expect(full).toMatchObject({ steps: [], states: [{ node: "gone", phase: "Blocked", servers: 1, message }] });
    expect(events).toEqual([{ type: "Warning", reason: "RemovedWithServers", message: `node gone: ${message}` }]);
  });

  test("is none of a host that Nova does not have, and waits for one whose cell cannot be read", () => {
    expect(of([service("other")], []).full).toMatchObject({ steps: [], status: {} });
    expect(of([service("gone", { isUnknown: true })], []).full).toMatchObject({
      steps: [],
      states: [{ node: "gone", phase: "Blocked" }],
    });
  });

  test("is in the order of names", () => {
    const services = ["y", "x"].map((host) => service(host));
    const plan = planOf([], services, [], { removed: new Set(["y", "x"]) });
    expect(plan.steps).toEqual(["disable x", "disable y"]);
  });
});

describe("Nova", () => {
  const nova = (...services: readonly ComputeService[]) => ({ services, servers: [], agents: [] });
  const clear = (more: Partial<Observed>, maintenance?: readonly NodeMaintenance[]) =>
    isClear(
      { nova: nova(), nodes: [], controls: [], ...more } as unknown as Observed,
      maintenance ? { maintenance } : {},
    );
  const of = (name: string): NodeMaintenance => ({ node: name, phase: "Empty", servers: 0, message: "" });

  test.each<[string, Partial<Observed>, readonly NodeMaintenance[] | undefined, boolean]>([
    ["need not be read again once nothing is in maintenance", { nova: nova(service("a")) }, undefined, true],
    ["is read again where it was not read", { nova: undefined }, undefined, false],
    [
      "is read again while a compute is disabled by us",
      { nova: nova(service("a"), service("b", ours)) },
      undefined,
      false,
    ],
    ["is read again while a cell is unknown", { nova: nova(service("a", { isUnknown: true })) }, undefined, false],
    ["is read again while a node is in maintenance", { nodes: [node("a")] }, [of("a")], false],
    ["is read again while a host is removed", {}, [of("gone")], false],
    ["need not be read for a control node", { controls: [node("c")] }, [of("c")], true],
    [
      "is read again for a control node that runs servers",
      { controls: [node("a")], nodes: [node("a")] },
      [of("a")],
      false,
    ],
  ])("%s", (_, more, maintenance, expected) => expect(clear(more, maintenance)).toBe(expected));

  test("is read when a node that is away counts as lost, and not before", () => {
    const until = (...lostAt: readonly (number | undefined)[]) => {
      const nodes = lostAt.map((at, index) => node(String(index), { ready: at === undefined, lostAt: at }));
      const services = nodes.map(({ name }) => service(name));
      const read = planOf(nodes, services, []).full.until;
      expect(planOf(nodes, [], [], { nova: undefined }).full.until).toBe(read);
      return read;
    };
    expect(until(undefined)).toBeUndefined();
    expect(until(undefined, NOW - 1_000, NOW - 2_000)).toBe(NOW + 298_000);
    expect(until(NOW - 299_000)).toBe(NOW + 10_000);
  });

  test("that cannot be read leaves computes as they are, and says so of those that are cordoned or lost", () => {
    const nodes = [
      node("a", { cordoned: true }),
      node("b", { ready: false, lostAt: 0 }),
      node("c"),
      node("d", { cordoned: true }),
    ];
    const { steps, events, full } = planOf(nodes, [], [], {
      nova: undefined,
      unread: "x".repeat(2_000),
      controls: [node("d", { cordoned: true }), node("e", { cordoned: true })],
      published: [
        { node: "d", phase: "Moving", servers: 2, message: "" },
        { node: "e", phase: "Waiting", servers: 0, message: "" },
      ],
    });
    expect(steps).toEqual([]);
    const said = full.states.map((each) => `${each.node} ${each.phase} ${each.servers}`);
    expect(said).toEqual(["d Blocked 2", "a Blocked 0", "b Blocked 0", "e Empty 0"]);
    expect(full.states[0]?.message).toHaveLength(512);
    expect(events).toEqual([
      { type: "Warning", reason: "MaintenanceFailed", message: expect.stringMatching(/^Nova cannot be read: x{979}$/) },
    ]);
    expect(full.until).toBe(NOW + 10_000);
    const idle = planOf([node("a")], [], [], { nova: undefined, unread: "x" }).full;
    expect({ status: idle.status, until: idle.until }).toEqual({ status: {}, until: NOW + 10_000 });
    const quiet = planOf([node("a")], [], [], { nova: undefined }).full;
    expect({ status: quiet.status, until: quiet.until }).toEqual({ status: {}, until: undefined });
  });
});
