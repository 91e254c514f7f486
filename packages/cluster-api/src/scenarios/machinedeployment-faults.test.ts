import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { MachineSet, type Machine } from "@causeway/api";
import { isControlledBy } from "@causeway/kubernetes";
import type { Observed as DeploymentObserved } from "../machinedeployment/observed.ts";
import { plan as planMachineDeployment } from "../machinedeployment/plan.ts";
import { sameMachines } from "../objects/template.ts";
import type { ObjectStep } from "../objects/steps.ts";
import { cluster, deployment, machine, now, servingMachine, template } from "../testing/objects.ts";

// Two thousand schedules, where that many are requested, take minutes.
vi.setConfig({ testTimeout: 600_000 });

/** What goes wrong, or just takes its time, between two reconciles. */
const fault = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: "reconcile" } as const) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("crash" as const), after: fc.nat(2) }) },
  // The cache does not show yet what was written last.
  { weight: 3, arbitrary: fc.constant({ do: "stale" } as const) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("progress" as const), most: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("scale" as const), replicas: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("version" as const), minor: fc.integer({ min: 30, max: 33 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const), which: fc.nat(5) }) },
);
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

interface State {
  readonly sets: readonly MachineSet[];
  /** By the uid of their set. */
  readonly machines: ReadonlyMap<string, readonly Machine[]>;
}

/** A MachineDeployment with its MachineSets, whose machines come and go as their replicas say. */
class Model {
  state: State = { sets: [], machines: new Map() };
  seen: State = this.state;
  replicas = 3;
  version = "v1.34.0";
  /** Most machines beyond what a surge allows. */
  most = 0;
  #highest = 3;
  #time = now;
  #uids = 0;

  play(event: Fault): void {
    switch (event.do) {
      case "progress":
        return this.progress(event.most);
      case "scale":
        this.replicas = event.replicas;
        this.#highest = Math.max(this.#highest, event.replicas);
        return;
      case "version":
        this.version = `v1.${event.minor}.0`;
        return;
      case "fail":
        return this.#change(event.which, (one) => [machine(one.metadata.name)]);
      case "lose":
        return this.#change(event.which, () => []);
      case "crash":
        return void this.reconcile({ limit: event.after });
      case "stale":
        return void this.reconcile({ stale: true });
      case "reconcile":
        return void this.reconcile();
    }
  }

  /** Plans on what is seen, and performs the steps up to a crash. Returns how many steps there were. */
  reconcile({ limit = Infinity, stale = false } = {}): number {
    if (!stale) this.seen = this.state;
    this.#time += 15_000;
    const { steps } = planMachineDeployment(this.#observed(), this.#time);
    for (const step of steps.slice(0, limit)) this.#perform(step as ObjectStep, stale);
    const total = this.state.sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
    this.most = Math.max(this.most, total - this.#highest);
    return steps.length;
  }

  /** Sets make or delete so many machines, and what was made serves. */
  progress(most: number): void {
    const machines = new Map<string, readonly Machine[]>();
    for (const { metadata, spec } of this.state.sets) {
      const uid = metadata.uid ?? "";
      const have = (this.state.machines.get(uid) ?? []).map((one) => servingMachine(one.metadata.name));
      const wanted = metadata.deletionTimestamp ? 0 : (spec.replicas ?? 0);
      const more = Array.from({ length: Math.max(0, Math.min(most, wanted - have.length)) }, () =>
        machine(`m-${(this.#uids += 1)}`),
      );
      const fewer = Math.max(0, Math.min(most, have.length - wanted));
      machines.set(uid, [...have.slice(fewer), ...more]);
    }
    const sets = this.state.sets.filter(
      ({ metadata }) => !metadata.deletionTimestamp || (machines.get(metadata.uid ?? "") ?? []).length > 0,
    );
    this.state = { sets, machines };
  }

  wanted(): typeof template {
    return { ...template, spec: { ...template.spec, version: this.version } };
  }

  available(): number {
    return [...this.state.machines.values()].flat().filter(({ status }) => status?.nodeRef).length;
  }

  #observed(): DeploymentObserved {
    const { sets, machines } = this.seen;
    const object = deployment(this.replicas, { template: this.wanted() });
    return {
      deployment: object,
      cluster: cluster(),
      sets: sets.filter((set) => isControlledBy(set, object)),
      orphans: [],
      machinesOf: machines,
    };
  }

  #change(which: number, change: (one: Machine) => readonly Machine[]): void {
    let at = 0;
    const machines = [...this.state.machines].map(
      ([uid, list]) => [uid, list.flatMap((one) => (at++ === which ? change(one) : [one]))] as const,
    );
    this.state = { ...this.state, machines: new Map(machines) };
  }

  /** As the API server does it: names are used once, and a patch of an older revision is refused. */
  #perform(step: ObjectStep, stale: boolean): void {
    const { sets } = this.state;
    if (step.type === "create") {
      if (sets.some(({ metadata }) => metadata.name === step.object.metadata.name)) return;
      const uid = `uid-set-${(this.#uids += 1)}`;
      const made = { ...step.object, metadata: { ...step.object.metadata, uid, resourceVersion: "1" } } as MachineSet;
      this.state = { ...this.state, sets: [...sets, made] };
      return;
    }
    const one = sets.find(({ metadata }) => metadata.name === step.key.name);
    if (step.resource.kind !== MachineSet.kind || !one) return;
    const replace = (set: MachineSet) =>
      (this.state = { ...this.state, sets: sets.map((each) => (each === one ? set : each)) });
    if (step.type === "delete") {
      replace({ ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
      return;
    }
    const { metadata, spec } = step.body as { metadata?: { resourceVersion?: string }; spec?: object };
    if (stale && metadata?.resourceVersion !== one.metadata.resourceVersion) return;
    const resourceVersion = String(Number(one.metadata.resourceVersion) + 1);
    replace({ ...one, metadata: { ...one.metadata, resourceVersion }, spec: { ...one.spec, ...spec } });
  }
}

const RUNS = Number(process.env["CAUSEWAY_MACHINEDEPLOYMENT_SCHEDULES"] ?? 2000);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 7);

test(`${RUNS} schedules of faults leave a MachineDeployment one MachineSet of its template with all machines`, () => {
  fc.assert(
    fc.property(fc.array(fault, { maxLength: 40 }), (events) => {
      const model = new Model();
      for (const event of events) model.play(event);
      let rounds = 0;
      // Machines need some rounds to be made and to serve, in which nothing is to be done.
      for (let still = 0; still < 8; rounds++) {
        if (rounds > 200) throw new Error("the MachineDeployment does not come to rest");
        still = model.reconcile() === 0 ? still + 1 : 0;
        model.progress(2);
      }
      const full = model.state.sets.filter(({ spec }) => (spec.replicas ?? 0) > 0);
      expect(full.map(({ spec }) => spec.replicas)).toEqual(model.replicas === 0 ? [] : [model.replicas]);
      for (const set of full) expect(sameMachines(set.spec.template, model.wanted())).toBe(true);
      expect([...model.state.machines.values()].flat()).toHaveLength(model.replicas);
      const current = model.state.sets.filter((set) => sameMachines(set.spec.template, model.wanted()));
      expect(current).toHaveLength(1);
      // A second leader whose cache is behind may make a MachineSet of a template that has passed; else the surge
      // holds.
      const isAlone = !events.some((event) => event.do === "stale");
      if (isAlone) expect(model.most).toBeLessThanOrEqual(1);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

test("a rollout never has fewer available machines than wanted, whatever the pace and wherever the process ends", () => {
  const pace = fc.oneof(
    fc.constant({ do: "reconcile" } as const),
    fc.constant({ do: "stale" } as const),
    fc.record({ do: fc.constant("crash" as const), after: fc.nat(2) }),
    fc.record({ do: fc.constant("progress" as const), most: fc.nat(3) }),
  );
  fc.assert(
    fc.property(fc.array(pace, { maxLength: 60 }), (events) => {
      const model = new Model();
      for (let round = 0; round < 10; round++) {
        model.reconcile();
        model.progress(3);
      }
      expect(model.available()).toBe(3);
      model.version = "v1.35.0";
      for (const event of events) {
        model.play(event);
        expect(model.available()).toBeGreaterThanOrEqual(3);
      }
    }),
    { numRuns: 500, seed: SEED },
  );
});
