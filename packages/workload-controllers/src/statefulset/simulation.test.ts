import fc from "fast-check";
import { expect, test } from "vitest";
import type { ControllerRevision, Pod, StatefulSet } from "@causeway/kubernetes";
import { at, now, template } from "../testing/objects.ts";
import { plan } from "./plan.ts";
import { isHealthy } from "./status.ts";

/** A StatefulSet's plan, performed on pods that become ready, fail and leave in any order. */
class Rollout {
  set: StatefulSet;
  pods = new Map<string, Pod>();
  revisions: ControllerRevision[] = [];
  #made = 0;

  constructor(spec: Partial<StatefulSet["spec"]>) {
    this.set = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "db", namespace: "default", uid: "set", generation: 1 },
      spec: { replicas: 3, selector: { matchLabels: { app: "web" } }, template: template("web:1"), ...spec },
    };
  }

  change(spec: Partial<StatefulSet["spec"]>): void {
    this.set = { ...this.set, spec: { ...this.set.spec, ...spec } };
  }

  /** One plan. Returns how many steps it had. */
  turn(): number {
    const { set, revisions } = this;
    const observed = { set, pods: [...this.pods.values()], orphans: [], revisions, orphanRevisions: [] };
    const { steps, status } = plan({ ...observed, claims: new Map() }, now);
    for (const step of steps) {
      if (step.type === "create-pod") this.#create(step.pod);
      else if (step.type === "delete-pod") this.#leave(step.target.uid);
      else if (step.type === "create-revision") {
        const { metadata } = step.revision;
        this.revisions.push({ ...step.revision, metadata: { ...metadata, uid: metadata.name } });
      } else if (step.type === "renumber-revision") {
        const { target, revision } = step;
        this.revisions = this.revisions.map((each) =>
          each.metadata.uid === target.uid ? { ...each, revision } : each,
        );
      } else if (step.type === "delete-revision") {
        this.revisions = this.revisions.filter(({ metadata }) => metadata.uid !== step.target.uid);
      } else throw new Error(`unexpected: ${step.type}`);
    }
    if (steps.length === 0) this.set = { ...set, status };
    return steps.length;
  }

  #create(pod: Pod): void {
    const { name } = pod.metadata;
    if (this.pods.has(name)) throw new Error(`${name} exists`);
    const ordinal = Number(name.slice(3));
    if (this.set.spec.podManagementPolicy !== "Parallel") {
      for (let lower = 0; lower < ordinal; lower++) {
        const before = this.pods.get(`db-${lower}`);
        if (!before || !isHealthy(before)) throw new Error(`${name} is created before db-${lower} is ready`);
      }
    }
    const metadata = { ...pod.metadata, uid: `${name}-${++this.#made}`, creationTimestamp: at(0) };
    this.pods.set(name, { ...pod, metadata, status: { phase: "Pending" } });
  }

  #leave(uid: string): void {
    for (const [name, pod] of this.pods) {
      if (pod.metadata.uid !== uid) continue;
      if (pod.metadata.deletionTimestamp !== undefined) throw new Error(`${name} is deleted twice`);
      this.pods.set(name, { ...pod, metadata: { ...pod.metadata, deletionTimestamp: at(0) } });
    }
  }

  /** The kubelet: a chosen pod goes one step further. */
  live(choice: number, fate: "next" | "fail"): void {
    const all = [...this.pods];
    const [name, pod] = all[choice % Math.max(1, all.length)] ?? [];
    if (name === undefined || !pod) return;
    if (pod.metadata.deletionTimestamp !== undefined) this.pods.delete(name);
    else if (fate === "fail") this.pods.set(name, { ...pod, status: { phase: "Failed" } });
    else if (pod.status?.phase === "Pending") {
      const conditions = [{ type: "Ready", status: "True" as const, lastTransitionTime: at(1) }];
      this.pods.set(name, { ...pod, status: { phase: "Running", conditions } });
    }
  }

  settle(): void {
    for (let round = 0; round < 300; round++) {
      const steps = this.turn();
      const before = JSON.stringify([...this.pods]);
      for (let choice = 0; choice < this.pods.size; choice++) this.live(choice, "next");
      if (steps === 0 && JSON.stringify([...this.pods]) === before && this.turn() === 0) return;
    }
    throw new Error("the rollout does not end");
  }
}

const move = fc.oneof(
  fc.record({ choice: fc.nat(9), fate: fc.constantFrom("next" as const, "fail" as const) }),
  fc.record({ replicas: fc.nat(5) }),
  fc.record({ image: fc.nat(2) }),
  fc.constant("turn" as const),
);

test("a StatefulSet ends with one ready pod of the template for each ordinal, whatever happens before, and creates none twice", () => {
  fc.assert(
    fc.property(
      fc.record({
        podManagementPolicy: fc.constantFrom("OrderedReady" as const, "Parallel" as const),
        maxUnavailable: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        revisionHistoryLimit: fc.nat(2),
      }),
      fc.array(move, { maxLength: 40 }),
      ({ maxUnavailable, ...spec }, moves) => {
        const rollingUpdate = { partition: 0, ...(maxUnavailable === undefined ? {} : { maxUnavailable }) };
        const rollout = new Rollout({ ...spec, updateStrategy: { type: "RollingUpdate", rollingUpdate } });
        for (const each of moves) {
          if (each === "turn") rollout.turn();
          else if ("replicas" in each) rollout.change({ replicas: each.replicas });
          else if ("image" in each) rollout.change({ template: template(`web:${each.image + 1}`) });
          else rollout.live(each.choice, each.fate);
        }
        rollout.settle();
        const { replicas = 0, template: wanted } = rollout.set.spec;
        const names = [...rollout.pods.keys()].toSorted();
        expect(names).toEqual(Array.from({ length: replicas }, (_, ordinal) => `db-${ordinal}`));
        for (const pod of rollout.pods.values()) {
          expect(pod.spec.containers).toEqual(wanted.spec.containers);
          expect(isHealthy(pod)).toBe(true);
        }
        expect(rollout.set.status).toMatchObject({ replicas, currentRevision: rollout.set.status?.updateRevision });
        expect(rollout.revisions.length).toBeLessThanOrEqual(1 + spec.revisionHistoryLimit);
      },
    ),
  );
});

test("a rolling update takes no more than maxUnavailable pods at a time", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(9), { maxLength: 30 }), (maxUnavailable, moves) => {
      const rollingUpdate = { partition: 0, maxUnavailable };
      const rollout = new Rollout({ replicas: 5, updateStrategy: { type: "RollingUpdate", rollingUpdate } });
      rollout.settle();
      rollout.change({ template: template("web:2") });
      for (const choice of moves) {
        rollout.turn();
        const serving = [...rollout.pods.values()].filter(isHealthy).length;
        expect(serving).toBeGreaterThanOrEqual(5 - maxUnavailable);
        rollout.live(choice, "next");
      }
    }),
  );
});
