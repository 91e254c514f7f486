import { CausewayError } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { plan } from "./plan.ts";
import { restoreFailureAfter } from "./states.ts";
import type { Step } from "./steps.ts";
import { restoredAnnotation } from "./tenant.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { own, poolOf, specOf } from "./testing/spec.ts";

const restore = { folder: "default/web/1" };
const count = (cluster: PlayedCluster, step: string) => cluster.performed.filter((each) => each === step).length;

describe("a control plane that is created from a backup", () => {
  test.each(["Own", "Pooled"] as const)("has its data before the first API server: datastore %s", (type) => {
    const spec = specOf({ restore, pods: own({ datastore: { type } }) });
    const cluster = new PlayedCluster();
    if (type === "Pooled") cluster.pool = poolOf();
    expect(cluster.complete(spec).status.ready).toBe(true);
    const order = cluster.performed;
    expect(order.indexOf("restore")).toBeGreaterThan(0);
    expect(order.indexOf("restore")).toBeLessThan(order.indexOf("apply Deployment/kube-apiserver"));
    expect(count(cluster, "restore")).toBe(1);
    expect(cluster.namespace?.metadata.annotations?.[restoredAnnotation]).toBe("true");
    // A process that starts later knows it from the namespace.
    cluster.restored = false;
    cluster.settle(spec);
    expect(count(cluster, "restore")).toBe(1);
  });

  test("that hibernates from the beginning gets its data when it wakes, and no API server without it", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf({ restore, replicas: 0 }));
    expect([count(cluster, "restore"), cluster.live.has("Deployment/kube-apiserver")]).toEqual([0, false]);
    cluster.complete(specOf({ restore }));
    expect(count(cluster, "restore")).toBe(1);
  });

  test("whose backup is incomplete says so, and reads all of it again after half an hour only", () => {
    const cluster = new PlayedCluster();
    const spec = specOf({ restore });
    const isDue = () => plan(cluster.observe(spec), now).steps.some(({ type }) => type === "restore");
    for (let turns = 0; turns < 30 && !isDue(); turns++) {
      for (const step of plan(cluster.observe(spec), now).steps) cluster.perform(step, now);
      cluster.assignAddress();
      cluster.rollOut();
    }
    const problem = { code: "BACKUP_INCOMPLETE", message: "2 keys have no value", actor: "operator" } as const;
    const observed = { ...cluster.observe(spec), restoreFailure: { problem, until: now + 1_800_000 } };
    const held = plan(observed, now);
    expect(held.steps).toEqual([]);
    expect([held.status.problem, held.wait?.until]).toEqual([problem, now + 1_800_000]);
    expect(plan(observed, now + 1_800_000).steps.map(({ type }) => type)).toEqual(["restore"]);
  });

  test.for<[code: string, until: number | undefined]>([
    ["BACKUP_INCOMPLETE", now + 1_800_000],
    ["BACKUP_UNREADABLE", now + 1_800_000],
    ["BACKUP_STORE_FAILED", undefined],
  ])("whose restore failed with %s waits until %s", ([code, until]) => {
    const step = {
      type: "restore",
      from: restore,
      keyspace: { access: poolOf().access ?? expect.fail(), prefix: "/" },
    };
    const problem = { code, message: "it fails", actor: "operator" } as const;
    const failed = { step: step as Step, error: new CausewayError(code, "it fails"), problem };
    expect(restoreFailureAfter(failed, now)?.until).toBe(until);
    expect(restoreFailureAfter({ ...failed, step: { type: "create-join-objects" } as Step }, now)).toBeUndefined();
  });

  test("is not restored where an API server was started already", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    cluster.complete(specOf({ restore }));
    expect(count(cluster, "restore")).toBe(0);
  });
});
