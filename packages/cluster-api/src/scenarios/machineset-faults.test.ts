import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { KubeadmConfig, OpenStackMachine, type Machine } from "@causeway/api";
import { plan as planMachineSet } from "../machineset/plan.ts";
import type { Observed as MachineSetObserved } from "../machineset/observed.ts";
import type { MachineSetStep } from "../machineset/steps.ts";
import { controlPlane } from "../testing/machine-set-observed.ts";
import { cluster, deployment, machineSet, now, referred, servingMachine } from "../testing/objects.ts";

// Two thousand schedules, where that many are requested, take minutes.
vi.setConfig({ testTimeout: 600_000 });

/** What goes wrong, or just takes its time, between two reconciles. */
const fault = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: "reconcile" } as const) },
  // The process ends in the middle of a step that makes several objects, or after so many steps.
  { weight: 3, arbitrary: fc.record({ do: fc.constant("crash" as const), after: fc.nat(2), of: fc.nat(3) }) },
  // The cache does not show yet what was written last: lost responses, and a leader that does not know yet that it is
  // none.
  { weight: 3, arbitrary: fc.constant({ do: "stale" } as const) },
  { weight: 5, arbitrary: fc.constant({ do: "progress" } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("fail" as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("edit" as const), replicas: fc.nat(5) }) },
);
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

const template = { spec: { template: { spec: { flavor: "small" } } } };

interface State {
  readonly machines: readonly Machine[];
  readonly hosts: ReadonlySet<string>;
  readonly configs: ReadonlySet<string>;
  /** Annotations of the set. */
  readonly notes: Readonly<Record<string, string>>;
}

/** A MachineSet, its Machines, and the provider objects by the Machine's name. */
class Model {
  state: State = { machines: [], hosts: new Set(), configs: new Set(), notes: {} };
  seen: State = this.state;
  replicas = 3;
  /** The most living Machines beyond what was wanted at any time. */
  most = 0;
  /** Names that were given a second time, of machines that a reconcile had seen on their way out. */
  readonly reused: string[] = [];
  readonly #seenLeaving = new Set<string>();
  #highest = 3;
  #time = now;
  #uids = 0;

  play(event: Fault): void {
    switch (event.do) {
      case "progress":
        return this.progress();
      case "edit":
        this.replicas = event.replicas;
        this.#highest = Math.max(this.#highest, event.replicas);
        return;
      case "delete":
        return this.#change(event.which, (machine) => leaving(machine));
      case "fail":
        return this.#change(event.which, (machine) => (machine.status?.nodeRef ? failed(machine) : machine));
      case "crash":
        return void this.reconcile({ limit: event.after, part: event.of });
      case "stale":
        return void this.reconcile({ stale: true });
      case "reconcile":
        return void this.reconcile();
    }
  }

  /** Plans on what is seen, and performs the steps up to a crash. Returns how many changing steps there were. */
  reconcile({ limit = Infinity, part = Infinity, stale = false } = {}): number {
    if (!stale) this.seen = this.state;
    this.#time += 15_000;
    const { steps } = planMachineSet(this.#observed(), this.#time);
    if (!stale) {
      const leaving = this.state.machines.filter(({ metadata }) => metadata.deletionTimestamp);
      for (const { metadata } of leaving) this.#seenLeaving.add(metadata.name);
    }
    for (const step of steps) if (step.type === "patch" && step.resource.kind === "MachineSet") this.#note(step.body);
    const changes = steps.filter(({ type }) => type !== "patch");
    for (const step of changes.slice(0, limit)) this.#perform(step);
    const next = changes[limit];
    if (next) this.#perform(cut(next, part));
    const living = this.state.machines.filter(({ metadata }) => !metadata.deletionTimestamp).length;
    this.most = Math.max(this.most, living - this.#highest);
    return changes.length;
  }

  /** Machines come up, and those that are deleted go with their provider objects. */
  progress(): void {
    const { machines, hosts, configs } = this.state;
    const left = machines.filter(({ metadata }) => !metadata.deletionTimestamp);
    const names = new Set(left.map(({ metadata }) => metadata.name));
    const kept = (all: ReadonlySet<string>) => new Set([...all].filter((name) => names.has(name)));
    const up = left.map((machine) =>
      machine.status?.nodeRef || !hosts.has(machine.metadata.name)
        ? machine
        : { ...machine, status: servingMachine(machine.metadata.name).status ?? {} },
    );
    this.state = { ...this.state, machines: up, hosts: kept(hosts), configs: kept(configs) };
  }

  #note(body: object): void {
    const { metadata } = body as { metadata?: { annotations?: Record<string, string> } };
    this.state = { ...this.state, notes: { ...this.state.notes, ...metadata?.annotations } };
  }

  #observed(): MachineSetObserved {
    const { machines, hosts, configs, notes } = this.seen;
    const base = { object: template };
    const set = machineSet("set", this.replicas);
    return {
      set: { ...set, metadata: { ...set.metadata, annotations: { ...notes } } },
      cluster: cluster(),
      deployment: deployment(this.replicas),
      machines,
      orphans: [],
      taken: new Set(machines.map(({ metadata }) => metadata.name)),
      infrastructure: {
        ...referred("OpenStackMachineTemplate", "workers", base.object),
        cloneKind: OpenStackMachine,
        clones: hosts,
      },
      bootstrap: {
        ...referred("KubeadmConfigTemplate", "workers", base.object),
        cloneKind: KubeadmConfig,
        clones: configs,
      },
      controlPlane: controlPlane("v1.34.0"),
    };
  }

  #change(which: number, change: (machine: Machine) => Machine): void {
    const machines = this.state.machines.map((machine, n) => (n === which ? change(machine) : machine));
    this.state = { ...this.state, machines };
  }

  /** As the API server does it: a name that exists is left as it is, and what is gone cannot be deleted again. */
  #perform(step: MachineSetStep): void {
    const { machines, hosts, configs } = this.state;
    if (step.type === "create-machines") {
      const taken = new Set(machines.map(({ metadata }) => metadata.name));
      const made = step.machines
        .filter(({ metadata }) => !taken.has(metadata.name))
        .map((machine) => ({ ...machine, metadata: { ...machine.metadata, uid: `uid-${(this.#uids += 1)}` } }));
      this.reused.push(...made.map(({ metadata }) => metadata.name).filter((name) => this.#seenLeaving.has(name)));
      this.state = { ...this.state, machines: [...machines, ...made] };
    } else if (step.type === "create-clones") {
      const names = step.objects.map(({ metadata }) => metadata.name);
      // A clone is owned by its Machine: of one that is gone it is collected at once.
      const owned = names.filter((name) => machines.some(({ metadata }) => metadata.name === name));
      if (step.kind === OpenStackMachine) this.state = { ...this.state, hosts: new Set([...hosts, ...owned]) };
      else this.state = { ...this.state, configs: new Set([...configs, ...owned]) };
    } else if (step.type === "delete") {
      const gone = (machine: Machine) => (machine.metadata.name === step.key.name ? leaving(machine) : machine);
      this.state = { ...this.state, machines: machines.map(gone) };
    } else if (step.type === "set-conditions") {
      const { name } = step.machine.metadata;
      const conditions = [...step.conditions];
      const set = (machine: Machine): Machine =>
        machine.metadata.name === name ? { ...machine, status: { ...machine.status, conditions } } : machine;
      this.state = { ...this.state, machines: machines.map(set) };
    }
  }
}

/** The part of a step that was performed before the process ended. */
function cut(step: MachineSetStep, part: number): MachineSetStep {
  if (step.type === "create-machines") return { ...step, machines: step.machines.slice(0, part) };
  return step.type === "create-clones" ? { ...step, objects: step.objects.slice(0, part) } : step;
}

function leaving(machine: Machine): Machine {
  const deletionTimestamp = machine.metadata.deletionTimestamp ?? "2026-11-21T00:00:00Z";
  return { ...machine, metadata: { ...machine.metadata, deletionTimestamp } };
}

/** As a MachineHealthCheck marks it. */
function failed(machine: Machine): Machine {
  const conditions = ["HealthCheckSucceeded", "OwnerRemediated"].map((type) => ({
    type,
    status: "False" as const,
    reason: "Test",
    lastTransitionTime: "2026-11-21T00:00:00Z",
  }));
  return { ...machine, status: { ...machine.status, conditions } };
}

const RUNS = Number(process.env["CAUSEWAY_MACHINESET_SCHEDULES"] ?? 2000);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 7);

test(`${RUNS} schedules of faults leave a MachineSet exactly its machines, each with a name that none had before it, one host and one bootstrap object`, () => {
  fc.assert(
    fc.property(fc.array(fault, { maxLength: 40 }), (events) => {
      const model = new Model();
      for (const event of events) model.play(event);
      let rounds = 0;
      for (let still = 0; still < 2; rounds++) {
        if (rounds > 60) throw new Error("the MachineSet does not come to rest");
        const before = model.state.machines.length;
        still = model.reconcile() === 0 && before === model.state.machines.length ? still + 1 : 0;
        model.progress();
      }
      const names = model.state.machines.map(({ metadata }) => metadata.name).sort();
      expect(names).toHaveLength(model.replicas);
      expect(new Set(names).size).toBe(names.length);
      expect([...model.state.hosts].sort()).toEqual(names);
      expect([...model.state.configs].sort()).toEqual(names);
      expect(model.most).toBeLessThanOrEqual(0);
      expect(model.reused).toEqual([]);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});
