import fc from "fast-check";
import { expect, test } from "vitest";
import type { Deployment, ReplicaSet } from "@causeway/kubernetes";
import { at, now, template } from "../testing/objects.ts";
import { plan } from "./plan.ts";
import { availableOf, maxSurge, maxUnavailable, sizeOf, sum, wantedOf } from "./replicas.ts";

/** A Deployment's plan, performed on ReplicaSets whose pods become available in any order. */
class Rollout {
  deployment: Deployment;
  sets: ReplicaSet[] = [];

  constructor(spec: Partial<Deployment["spec"]>) {
    this.deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: "default", uid: "web", generation: 1 },
      spec: { replicas: 3, selector: { matchLabels: { app: "web" } }, template: template("web:1"), ...spec },
    };
  }

  change(spec: Partial<Deployment["spec"]>): void {
    const generation = (this.deployment.metadata.generation ?? 0) + 1;
    const { metadata } = this.deployment;
    this.deployment = {
      ...this.deployment,
      metadata: { ...metadata, generation },
      spec: { ...this.deployment.spec, ...spec },
    };
  }

  /** One plan. Returns how many steps it had. */
  turn(): number {
    const { steps, status } = plan({ deployment: this.deployment, sets: this.sets, orphans: [], pods: new Map() }, now);
    for (const step of steps) {
      if (step.type === "create-replica-set") {
        const created = { creationTimestamp: at(1_000 - this.sets.length), uid: step.set.metadata.name };
        this.sets.push({ ...step.set, metadata: { ...step.set.metadata, ...created } });
      } else if (step.type === "delete-replica-set") {
        this.sets = this.sets.filter(({ metadata }) => metadata.uid !== step.target.uid);
      } else if (step.type === "change-replica-set") {
        this.sets = this.sets.map((set) => {
          if (set.metadata.uid !== step.target.uid) return set;
          const annotations = { ...set.metadata.annotations, ...step.annotations };
          return {
            ...set,
            metadata: { ...set.metadata, annotations },
            spec: { ...set.spec, ...(step.scale ? { replicas: step.scale.to } : {}) },
          };
        });
      }
    }
    if (steps.length === 0) {
      const annotations = { "deployment.kubernetes.io/revision": status.revision ?? "" };
      this.deployment = {
        ...this.deployment,
        metadata: { ...this.deployment.metadata, annotations },
        status: status.status,
      };
    }
    return steps.length;
  }

  /** The ReplicaSet controller: pods exist at once, and `share` of them are available. */
  live(share: (set: ReplicaSet) => number): void {
    this.sets = this.sets.map((set) => {
      const replicas = sizeOf(set);
      const available = Math.min(
        replicas,
        Math.max(Math.min(availableOf(set), replicas), Math.floor(replicas * share(set))),
      );
      return { ...set, status: { replicas, readyReplicas: available, availableReplicas: available } };
    });
  }

  settle(check: () => void = () => {}): void {
    for (let round = 0; round < 200; round++) {
      const steps = this.turn();
      check();
      const before = JSON.stringify(this.sets);
      this.live(() => 1);
      if (steps === 0 && JSON.stringify(this.sets) === before) return;
    }
    throw new Error("the rollout does not end");
  }
}

const size = fc.oneof(
  fc.nat(4),
  fc.nat(100).map((percent) => `${percent}%`),
);

test("a rolling update never exceeds maxSurge, never falls below maxUnavailable, and ends", () => {
  fc.assert(
    fc.property(
      fc.record({ replicas: fc.integer({ min: 1, max: 12 }), maxSurge: size, maxUnavailable: size }),
      fc.array(fc.record({ image: fc.nat(2), share: fc.double({ min: 0, max: 1, noNaN: true }) }), { maxLength: 8 }),
      ({ replicas, ...rollingUpdate }, moves) => {
        const rollout = new Rollout({ replicas, strategy: { type: "RollingUpdate", rollingUpdate } });
        rollout.settle();
        const check = () => {
          const { deployment, sets } = rollout;
          expect(sum(sets, sizeOf)).toBeLessThanOrEqual(wantedOf(deployment) + maxSurge(deployment));
          const serving = sum(sets, (set) => Math.min(availableOf(set), sizeOf(set)));
          expect(serving).toBeGreaterThanOrEqual(wantedOf(deployment) - maxUnavailable(deployment));
        };
        for (const { image, share } of moves) {
          rollout.change({ template: template(`web:${image + 2}`) });
          for (let turn = 0; turn < 3; turn++) {
            rollout.turn();
            check();
            rollout.live(() => share);
          }
        }
        rollout.settle(check);
        const [current, ...rest] = rollout.sets.filter((set) => sizeOf(set) > 0);
        expect(rest).toEqual([]);
        expect(current?.spec.replicas).toBe(replicas);
        expect(current?.spec.template.spec).toEqual(rollout.deployment.spec.template.spec);
      },
    ),
  );
});

test("scaling during a rollout changes the ReplicaSets in proportion, to exactly replicas plus maxSurge", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 1, max: 40 }), (from, to) => {
      fc.pre(from !== to);
      const rollingUpdate = { maxSurge: 2, maxUnavailable: 1 };
      const rollout = new Rollout({ replicas: from, strategy: { type: "RollingUpdate", rollingUpdate } });
      rollout.settle();
      rollout.change({ template: template("web:2") });
      for (let turn = 0; turn < 4; turn++) rollout.turn();
      rollout.live(({ spec }) => (spec.template.spec.containers[0]?.image === "web:1" ? 1 : 0));
      if (rollout.sets.filter((set) => sizeOf(set) > 0).length < 2) return;
      rollout.change({ replicas: to });
      rollout.turn();
      expect(sum(rollout.sets, sizeOf)).toBe(to + 2);
    }),
    { numRuns: 300 },
  );
});

test("the Deployment controller reports a complete rollout as kubectl rollout status expects it", () => {
  const rollout = new Rollout({ replicas: 2, progressDeadlineSeconds: 600 });
  rollout.settle();
  rollout.settle();
  expect(rollout.deployment.status).toMatchObject({
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    availableReplicas: 2,
    conditions: [
      { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
      { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
    ],
  });
});

test("going back to an old template takes the highest revision and records the one before", () => {
  const rollout = new Rollout({ replicas: 1 });
  for (const image of ["web:1", "web:2", "web:1"]) {
    rollout.change({ template: template(image) });
    rollout.settle();
    rollout.settle();
  }
  const current = rollout.sets.find((set) => sizeOf(set) > 0);
  expect(current?.metadata.annotations).toMatchObject({
    "deployment.kubernetes.io/revision": "3",
    "deployment.kubernetes.io/revision-history": "1",
  });
  expect(rollout.deployment.metadata.annotations).toEqual({ "deployment.kubernetes.io/revision": "3" });
});
