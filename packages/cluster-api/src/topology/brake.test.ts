import type { Cluster } from "@causeway/api";
import { expect, test } from "vitest";
import { RotationBrake } from "./brake.ts";
import type { Desired } from "./desired.ts";
import type { Blueprint } from "./model.ts";

const cluster = (version = "v1.34.0"): Cluster =>
  ({ metadata: { name: "demo", uid: "u" }, spec: { topology: { classRef: { name: "c" }, version } } }) as Cluster;
const template = { object: { metadata: { name: "t", uid: "t", generation: 1 } } };
const blueprint = (generation = 1): Blueprint =>
  ({
    class: { metadata: { name: "c", uid: "c", generation } },
    infrastructure: template,
    controlPlane: template,
    controlPlaneMachine: undefined,
    deployments: new Map(),
    pools: new Map(),
  }) as unknown as Blueprint;
const desired = (name: string): Desired =>
  ({
    controlPlane: { machineTemplate: { kind: { kind: "T" }, object: { metadata: { name } } } },
    workers: [],
    upgrades: { controlPlane: "v1.34.0", workers: new Map() },
  }) as unknown as Desired;

/** Rotates so many times from one name to the next. */
function rotate(brake: RotationBrake, times: number, given: { cluster?: Cluster; blueprint?: Blueprint } = {}) {
  let last: string | undefined;
  for (let turn = 0; turn < times; turn++) {
    const names = { before: desired(`a-${turn}`), after: desired(`a-${turn + 1}`) };
    last = brake.check(given.cluster ?? cluster(), given.blueprint ?? blueprint(), names);
  }
  return last;
}

test("a template that gets a sixth name without a change is not replaced any more", () => {
  expect(rotate(new RotationBrake(), 5)).toBeUndefined();
  expect(rotate(new RotationBrake(), 6)).toMatch(/depends on the name of the template/);
});
test("a rotation that is planned again and again counts once", () => {
  const brake = new RotationBrake();
  for (let turn = 0; turn < 50; turn++)
    expect(brake.check(cluster(), blueprint(), { before: desired("a"), after: desired("b") })).toBeUndefined();
});
test("a template that keeps its name is no rotation", () => {
  const brake = new RotationBrake();
  for (let turn = 0; turn < 50; turn++)
    expect(
      brake.check(cluster(), blueprint(), { before: desired(`a-${turn}`), after: desired(`a-${turn}`) }),
    ).toBeUndefined();
});
test("a change of the Cluster or of its class lifts the brake", () => {
  const brake = new RotationBrake();
  expect(rotate(brake, 6)).toBeDefined();
  expect(rotate(brake, 1, { cluster: cluster("v1.35.0") })).toBeUndefined();
  expect(rotate(brake, 6)).toBeDefined();
  expect(rotate(brake, 1, { blueprint: blueprint(2) })).toBeUndefined();
});
