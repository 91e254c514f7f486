import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { node } from "../testing/maintained.ts";
import type { ComputeNode, ComputeService, Observed, QuorumCluster } from "./model.ts";
import { controlVerdicts, planControls } from "./plan-control.ts";
import { plan } from "./plan.ts";

const cordoned = { cordoned: true };
const off = { ready: false, lostAt: 0 };

/** A cluster with a member on each of these nodes; "!": it is not ready, "": it is not scheduled. */
const cluster = (component: string, ...on: readonly string[]): QuorumCluster => ({
  component,
  size: on.length,
  members: on.map((name) => ({
    node: name === "" ? undefined : name.replace("!", ""),
    isReady: name !== "" && !name.startsWith("!"),
  })),
});
const galera = cluster("mariadb", "a", "b", "c");
const raft = cluster("ovn-nb", "a", "b", "c");

interface Given {
  readonly controls: readonly ComputeNode[];
  readonly quorums?: readonly QuorumCluster[];
  readonly held?: readonly string[];
}
const factsOf = ({ controls, quorums = [galera, raft], held = controls.map(({ name }) => name) }: Given) => ({
  controls,
  quorums,
  held: new Set(held),
});

/** What is not observed in tests of whole plans. */
const nothingElse = {
  published: [],
  strays: [],
  removed: new Set<string>(),
  orphans: [],
  guards: new Set(["a", "b", "c"]),
  attempts: new Map<string, never>(),
  limits: { nodes: 1, moves: 2, flap: 300_000 },
};

const planned = (facts: ReturnType<typeof factsOf>) =>
  planControls(
    facts,
    controlVerdicts(facts, () => true),
    () => false,
  );

describe("a control node that is cordoned", () => {
  test.each<[title: string, given: Given, released: string[], phases: string[], message: string]>([
    ["is released", { controls: [node("a", cordoned), node("b"), node("c")] }, ["a"], ["Empty"], "may be drained"],
    [
      "waits behind another one",
      { controls: [node("a", cordoned), node("b", cordoned), node("c")] },
      ["a"],
      ["Empty", "Waiting"],
      "control node a is in maintenance",
    ],
    [
      "waits behind one that was released before, whatever their names",
      { controls: [node("a", cordoned), node("b", cordoned), node("c")], held: ["a", "c"] },
      [],
      ["Waiting", "Empty"],
      "control node b is in maintenance",
    ],
    [
      "waits behind one whose drain has evicted a member, and would take the majority away",
      { controls: [node("a", cordoned), node("b", cordoned), node("c")], quorums: [cluster("ovn-nb", "a", "", "c")] },
      ["b"],
      ["Waiting", "Empty"],
      "control node b is in maintenance",
    ],
    [
      "is refused with each other one where each has evicted a member that the other needs",
      {
        controls: [node("a", cordoned), node("b", cordoned), node("c")],
        quorums: [cluster("ovn-nb", "a", "", "c"), cluster("ovn-sb", "", "b", "c")],
      },
      [],
      ["Blocked", "Blocked"],
      "uncordon it",
    ],
    [
      "waits for one that is away",
      { controls: [node("a", cordoned), node("b", off), node("c")] },
      [],
      ["Waiting"],
      "control node b",
    ],
    [
      "is refused where Galera would lose its majority",
      { controls: [node("a", cordoned), node("b"), node("c")], quorums: [cluster("mariadb", "a", "!b", "c"), raft] },
      [],
      ["Blocked"],
      "mariadb would have 1 of 3 members, and needs 2",
    ],
    [
      "is refused where OVN's RAFT would lose its majority, as a member is not scheduled",
      { controls: [node("a", cordoned), node("b"), node("c")], quorums: [galera, cluster("ovn-sb", "a", "", "c")] },
      [],
      ["Blocked"],
      "ovn-sb would have 1 of 3 members, and needs 2",
    ],
    [
      "is released where the member that is away is its own",
      { controls: [node("a", cordoned), node("b"), node("c")], quorums: [cluster("mariadb", "!a", "b", "c")] },
      ["a"],
      ["Empty"],
      "",
    ],
    [
      "is refused where two members are on it",
      { controls: [node("a", cordoned), node("b")], quorums: [cluster("mariadb", "a", "a", "b")] },
      [],
      ["Blocked"],
      "mariadb would have 1 of 3",
    ],
    [
      "is released where two of five members would be away",
      { controls: [node("a", cordoned), node("b")], quorums: [cluster("rabbitmq", "a", "!b", "c", "d", "e")] },
      ["a"],
      ["Empty"],
      "",
    ],
    ["that is off is released", { controls: [node("a", { ...cordoned, ...off }), node("b")] }, ["a"], ["Empty"], ""],
  ])("%s", (_, given, released, phases, message) => {
    const { steps, states, events } = planned(factsOf(given));
    expect(steps.map(({ name }) => name)).toEqual(released);
    expect(states.map(({ phase }) => phase)).toEqual(phases);
    expect(states.map((state) => state.message).join("; ")).toContain(message);
    expect(events.map(({ reason }) => reason)).toEqual(
      phases.filter((phase) => phase === "Blocked").map(() => "QuorumAtRisk"),
    );
  });

  test("is released, where it runs servers, only when it is empty and its turn has come", () => {
    const reason = "causeway: node a is cordoned";
    const service: ComputeService = {
      id: "s",
      host: "a",
      zone: "az1",
      isUp: true,
      isEnabled: false,
      reason,
      isForcedDown: false,
    };
    const planWith = (others: readonly ComputeNode[], isEmpty: boolean) => {
      const a = node("a", cordoned);
      const server = { id: "1", name: "1", host: "a", status: "ACTIVE", task: "" };
      const observed: Observed = {
        ...factsOf({ controls: [a, ...others] }),
        nodes: [a],
        nova: { services: [service], servers: isEmpty ? [] : [server], agents: [] },
        ...nothingElse,
      };
      const { steps, status } = plan(observed, 1_000_000);
      return [
        ...steps.map(({ type, name }) => `${type} ${name}`),
        ...(status.maintenance ?? []).map(({ phase }) => phase),
      ];
    };
    expect(planWith([node("b"), node("c")], false)).toEqual(["live-migrate 1", "Moving"]);
    expect(planWith([node("b"), node("c")], true)).toEqual(["release a", "Empty"]);
    expect(planWith([node("b", off), node("c")], true)).toEqual(["Waiting"]);
  });

  test.each<[title: string, on: string, zones: [string, string], expected: string[]]>([
    [
      "that is under way is not behind one that waits for its place",
      "none",
      ["az1", "az1"],
      ["release b", "a Waiting", "b Empty"],
    ],
    [
      "that is empty is not behind one that servers cannot leave",
      "a",
      ["az1", "az2"],
      ["release b", "a Blocked", "b Empty"],
    ],
  ])("which runs servers, %s", (_, on, zones, expected) => {
    const services = ["a", "b"].map((host, at) => ({
      id: `s-${host}`,
      host,
      zone: zones[at] ?? "",
      isUp: true,
      isEnabled: host === "a" && on === "none",
      reason: host === "a" && on === "none" ? "" : `causeway: node ${host} is cordoned`,
      isForcedDown: false,
    }));
    const both = [node("a", cordoned), node("b", cordoned)];
    const observed: Observed = {
      ...factsOf({ controls: [...both, node("c")] }),
      nodes: both,
      nova: { services, servers: [{ id: "1", name: "1", host: on, status: "ERROR", task: "" }], agents: [] },
      ...nothingElse,
    };
    const { steps, status } = plan(observed, 1_000_000);
    expect([
      ...steps.map(({ type, name }) => `${type} ${name}`),
      ...(status.maintenance ?? []).map((each) => `${each.node} ${each.phase}`),
    ]).toEqual(expected);
  });
});

describe("the report of a control node", () => {
  test.each<[string, Given, object, object[]]>([
    [
      "that may be drained",
      { controls: [node("a", cordoned), node("b"), node("c")] },
      { phase: "Empty", message: "it may be drained: every cluster has its majority without it" },
      [],
    ],
    [
      "behind another one",
      { controls: [node("a", cordoned), node("b", off), node("c")] },
      { phase: "Waiting", message: "control node b is in maintenance or away: its turn comes after it" },
      [],
    ],
    [
      "that two clusters need",
      {
        controls: [node("a", cordoned), node("b"), node("c")],
        quorums: [cluster("mariadb", "a", "!b", "c"), cluster("ovn-nb", "a", "b", "")],
      },
      {
        phase: "Blocked",
        message:
          "without it mariadb would have 1 of 3 members, and needs 2; ovn-nb would have 1 of 3 members, and needs 2: uncordon it until they are back",
      },
      [
        {
          type: "Warning",
          reason: "QuorumAtRisk",
          message:
            "node a is not released for its drain: without it mariadb would have 1 of 3 members, and needs 2; ovn-nb would have 1 of 3 members, and needs 2: uncordon it until they are back",
        },
      ],
    ],
  ])("%s has its phase and its message", (_, given, state, events) => {
    const plan = planned(factsOf(given));
    expect(plan.states).toEqual([{ node: "a", servers: 0, ...state }]);
    expect(plan.events).toEqual(events);
  });

  test("that runs servers is only the event: the plan of computes has the rest", () => {
    const facts = factsOf({
      controls: [node("a", cordoned), node("b"), node("c")],
      quorums: [cluster("mariadb", "a", "!b", "c")],
    });
    const verdicts = controlVerdicts(facts, () => true);
    const plan = planControls(facts, verdicts, () => true);
    expect(plan).toMatchObject({ steps: [], states: [], events: [{ reason: "QuorumAtRisk" }] });
  });

  test("that another rule holds lets the next one go first", () => {
    const facts = factsOf({ controls: [node("a", cordoned), node("b", cordoned), node("c")] });
    const verdicts = controlVerdicts(facts, ({ name }) => name !== "a");
    expect([...verdicts].map(([name, { phase }]) => `${name} ${phase}`)).toEqual(["a Waiting", "b Empty"]);
  });
});

test("no two control nodes are released together, none while another is away, and none that a majority needs", () => {
  const names = ["a", "b", "c", "d"];
  const state = fc.record({ cordoned: fc.boolean(), ready: fc.boolean(), isHeld: fc.boolean() });
  const member = fc.record({ node: fc.option(fc.constantFrom(...names), { nil: undefined }), isReady: fc.boolean() });
  const clusters = fc.array(fc.array(member, { minLength: 3, maxLength: 5 }), { maxLength: 3 });
  fc.assert(
    fc.property(fc.tuple(state, state, state, state), clusters, (states, all) => {
      const controls = states.map((its, at) =>
        node(names[at] ?? "", { cordoned: its.cordoned, ready: its.ready, lostAt: its.ready ? undefined : 0 }),
      );
      const held = names.filter((_, at) => states[at]?.isHeld);
      const quorums = all.map((members, at) => ({ component: `c${at}`, size: members.length | 1, members }));
      const facts = factsOf({ controls, quorums, held });
      const running = planned(facts).steps.filter(({ name }) => controls.find((each) => each.name === name)?.ready);
      expect(running.length).toBeLessThanOrEqual(1);
      for (const { name } of running) {
        const others = controls.filter((each) => each.name !== name);
        expect(others.filter((each) => !each.ready || (each.cordoned && !held.includes(each.name)))).toEqual([]);
        for (const { members, size } of quorums) {
          if (!members.some((each) => each.node === name)) continue;
          expect(members.filter((each) => each.isReady && each.node !== name).length).toBeGreaterThan(size / 2);
        }
      }
      // Nothing that is cordoned and runs is without a verdict.
      const verdicts = controlVerdicts(facts, () => true);
      expect(controls.filter((each) => each.cordoned && !verdicts.has(each.name))).toEqual([]);
    }),
  );
});
