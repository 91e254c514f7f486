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
    expect(plan(observed({ keyspace: undefined }), now)).toMatchObject({ steps: [], wait: { until: now + 10 } });
    expect(plan(observed({ encryption: undefined }), now).steps).toEqual([]);
    expect(plan(observed({ spec: specOf() }), now)).toEqual({ steps: [], status: undefined });
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
    expect(planned.wait?.until).toBe(now + 5);
  });
});
