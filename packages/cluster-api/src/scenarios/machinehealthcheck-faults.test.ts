import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Machine, MachineHealthCheck } from "@causeway/api";
import { getCondition, type Node } from "@causeway/kubernetes";
import { plan as planHealthCheck } from "../machinehealthcheck/plan.ts";
import { cluster, condition, node, now, servingMachine } from "../testing/objects.ts";

// Two thousand schedules, where that many are requested, take minutes.
vi.setConfig({ testTimeout: 600_000 });

const names = ["a", "b", "c", "d", "e"];

const fault = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: "reconcile" } as const) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("crash" as const), after: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.constant({ do: "stale" } as const) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), seconds: fc.nat(200) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("node" as const), which: fc.nat(4), ready: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const), which: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("skip" as const), which: fc.nat(4), on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("connect" as const), on: fc.boolean() }) },
  // The owner replaces what is marked.
  { weight: 3, arbitrary: fc.constant({ do: "replace" } as const) },
);
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

interface State {
  readonly machines: ReadonlyMap<string, Machine>;
  readonly nodes: ReadonlyMap<string, Node>;
}

const check: MachineHealthCheck = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineHealthCheck",
  metadata: { name: "check", namespace: "default", uid: "uid-check", generation: 1 },
  spec: {
    clusterName: "demo",
    selector: { matchLabels: { a: "b" } },
    checks: { unhealthyNodeConditions: [{ type: "Ready", status: "False", timeoutSeconds: 60 }] },
    remediation: { triggerIf: { unhealthyLessThanOrEqualTo: 2 } },
  },
};
const provisioned = cluster({
  status: { conditions: [condition("ControlPlaneInitialized"), condition("InfrastructureReady")] },
});

/** Machines with Nodes that fail and recover, and a health check that judges them. */
class Model {
  state: State = {
    machines: new Map(names.map((name) => [name, servingMachine(name)])),
    nodes: new Map(names.map((name) => [name, nodeAt(name, true, now)])),
  };
  seen: State = this.state;
  time = now;
  connected = true;
  /** Marks for the owner that were set while more machines were unhealthy than the limit says. */
  beyond = 0;
  /** Marks of machines whose Node was not false for a minute, and not gone. */
  wrong = 0;
  #status: MachineHealthCheck["status"];

  play(event: Fault): void {
    const name = "which" in event ? (names[event.which] ?? "a") : "a";
    switch (event.do) {
      case "wait":
        this.time += event.seconds * 1000;
        return;
      case "node":
        return this.#setNode(name, event.ready);
      case "lose":
        return this.#setNode(name, undefined);
      case "skip":
        return this.#setMachine(name, (one) => skipped(one, event.on));
      case "connect":
        this.connected = event.on;
        return;
      case "replace":
        return this.replace();
      case "crash":
        return void this.reconcile({ limit: event.after });
      case "stale":
        return void this.reconcile({ stale: true });
      case "reconcile":
        return void this.reconcile();
    }
  }

  reconcile({ limit = Infinity, stale = false } = {}): number {
    if (!stale) this.seen = this.state;
    const { machines, nodes } = this.seen;
    const object = { ...check, ...(this.#status ? { status: this.#status } : {}) };
    const targets = [...machines.values()].map((one) => ({ machine: one, node: nodes.get(one.metadata.name) }));
    const plan = planHealthCheck(
      { check: object, cluster: provisioned, targets, connected: this.connected },
      this.time,
    );
    this.#status = plan.status;
    const marks = plan.steps.flatMap((step) => (step.type === "set-conditions" ? [step] : []));
    for (const step of marks.slice(0, limit)) {
      const { name } = step.machine.metadata;
      const before = step.machine.status?.conditions ?? [];
      if (isFalse(step.conditions, "OwnerRemediated") && !isFalse(before, "OwnerRemediated")) this.#judge(name);
      const kept = (one: Machine) =>
        (one.status?.conditions ?? []).filter(
          ({ type }) => type !== "HealthCheckSucceeded" && type !== "OwnerRemediated",
        );
      this.#setMachine(name, (one) => ({
        ...one,
        status: { ...one.status, conditions: [...kept(one), ...step.conditions] },
      }));
    }
    return marks.length;
  }

  replace(): void {
    for (const [name, one] of this.state.machines) {
      if (!isFalse(one.status?.conditions ?? [], "OwnerRemediated")) continue;
      const machines = new Map(this.state.machines).set(name, servingMachine(name));
      const nodes = new Map(this.state.nodes).set(name, nodeAt(name, true, this.time));
      this.state = { machines, nodes };
    }
  }

  /** Whether a Node has been false for a minute, or is gone. */
  isUnhealthy(name: string, { nodes }: State = this.state): boolean {
    const found = nodes.get(name);
    if (!found) return true;
    const ready = found.status?.conditions?.find(({ type }) => type === "Ready");
    return ready?.status === "False" && this.time - Date.parse(ready.lastTransitionTime ?? "") >= 60_000;
  }

  /** Judges a mark by what the check has seen. */
  #judge(name: string): void {
    if (!this.isUnhealthy(name, this.seen)) this.wrong += 1;
    const judged = [...this.seen.machines.values()].filter((one) => !isSkipped(one));
    const bad = judged.filter(({ metadata }) => this.isUnhealthy(metadata.name, this.seen));
    if (bad.length > 2) this.beyond += 1;
  }

  #setNode(name: string, ready: boolean | undefined): void {
    const nodes = new Map(this.state.nodes);
    const before = nodes.get(name)?.status?.conditions?.find(({ type }) => type === "Ready");
    if (ready === undefined) nodes.delete(name);
    else if (before?.status !== (ready ? "True" : "False")) nodes.set(name, nodeAt(name, ready, this.time));
    this.state = { ...this.state, nodes };
  }

  #setMachine(name: string, change: (one: Machine) => Machine): void {
    const one = this.state.machines.get(name);
    if (one) this.state = { ...this.state, machines: new Map(this.state.machines).set(name, change(one)) };
  }
}

function nodeAt(name: string, ready: boolean, since: number): Node {
  const lastTransitionTime = new Date(since).toISOString();
  return node(name, {
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime }] },
  });
}

const skip = "cluster.x-k8s.io/skip-remediation";

function skipped(one: Machine, on: boolean): Machine {
  return { ...one, metadata: { ...one.metadata, annotations: on ? { [skip]: "" } : {} } };
}

function isSkipped({ metadata }: Machine): boolean {
  return metadata.annotations?.[skip] !== undefined;
}

function isFalse(conditions: Parameters<typeof getCondition>[0], type: string): boolean {
  return getCondition(conditions, type)?.status === "False";
}

const RUNS = Number(process.env["CAUSEWAY_HEALTHCHECK_SCHEDULES"] ?? 2000);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 7);

test(`${RUNS} schedules of faults mark unhealthy machines only, within the limit, and all of them in the end`, () => {
  fc.assert(
    fc.property(fc.array(fault, { maxLength: 60 }), (events) => {
      const model = new Model();
      for (const event of events) model.play(event);
      expect([model.wrong, model.beyond]).toEqual([0, 0]);
      model.connected = true;
      for (const name of names) model.play({ do: "skip", which: names.indexOf(name), on: false });
      model.time += 600_000;
      // With no more unhealthy ones than the limit says, all are replaced; else none is that was not marked before.
      const before = names.filter((name) => model.isUnhealthy(name)).length;
      for (let round = 0; round < 10; round++) {
        model.reconcile();
        model.replace();
      }
      const left = names.filter((name) => model.isUnhealthy(name)).length;
      if (before <= 2) expect(left).toBe(0);
      expect(model.reconcile()).toBe(0);
      for (const one of model.state.machines.values())
        expect(isFalse(one.status?.conditions, "HealthCheckSucceeded")).toBe(model.isUnhealthy(one.metadata.name));
      expect([model.wrong, model.beyond]).toEqual([0, 0]);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});
