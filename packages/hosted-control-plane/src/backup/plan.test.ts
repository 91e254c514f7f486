import { describe, expect, test } from "vitest";
import { now, SECRET } from "../pods/testing/played-cluster.ts";
import { poolOf, specOf } from "../pods/testing/spec.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

describe("backups of a control plane", () => {
  const backup = { folder: "f", fullEvery: 100, changesEvery: 10, keep: 50 };
  const point = { id: "0000000000000001", time: now - 20, full: "0000000000000001" };
  const keyspace = { access: poolOf().access ?? expect.fail(), prefix: "/web/" };
  const observed = (changes: Partial<Observed>): Observed => ({
    spec: specOf({ backup }),
    points: [point],
    keyspace,
    encryption: SECRET,
    ...changes,
  });

  test("are created when they are due, from what is reachable", () => {
    expect(plan(observed({}), now).steps).toEqual([{ type: "take", parent: point }]);
    // All data is copied, and what killed programs left is deleted.
    expect(plan(observed({ points: [] }), now).steps).toEqual([{ type: "take" }, { type: "sweep" }]);
    const older = { ...point, time: now - 100, id: "000000000000000a", full: "000000000000000a" };
    expect(plan(observed({ points: [older] }), now).steps).toStrictEqual([{ type: "take" }, { type: "sweep" }]);
    const wait = { for: "the etcd of the control plane", until: now + 10 };
    expect(plan(observed({ keyspace: undefined }), now)).toMatchObject({ steps: [], wait });
    expect(plan(observed({ encryption: undefined }), now).steps).toEqual([]);
    expect(plan(observed({ spec: specOf() }), now)).toEqual({ steps: [], status: undefined });
  });

  test("have what changed since the newest one, in whatever order they are listed", () => {
    const [first, second] = [point, { ...point, id: "0000000000000002", time: now - 15 }];
    for (const points of [
      [first, second],
      [second, first],
    ])
      expect(plan(observed({ points }), now).steps).toEqual([{ type: "take", parent: second }]);
  });

  test("say nothing of times before there is one", () => {
    const { status } = plan(observed({ points: [] }), now);
    expect(status).toStrictEqual({ folder: "f", points: 0 });
    const lost = { ...point, full: "000000000000000f" };
    expect(plan(observed({ points: [lost] }), now).status).not.toHaveProperty("newestFull");
  });

  test("are deleted when no time needs them, and say what there is", () => {
    const old = { id: "0000000000000000", time: now - 300, full: "0000000000000000" };
    const middle = { id: "0000000000000002", time: now - 80, full: "0000000000000002" };
    const young = { id: "0000000000000003", time: now - 5, full: "0000000000000002" };
    const planned = plan(observed({ points: [old, middle, young] }), now);
    expect(planned.steps).toEqual([{ type: "delete", point: old }]);
    expect(planned.status).toMatchObject({
      folder: "f",
      points: 3,
      oldest: old.time,
      newest: young.time,
      newestFull: middle.time,
    });
    expect(planned.wait).toEqual({ for: "the next backup", until: now + 5 });
  });
});
