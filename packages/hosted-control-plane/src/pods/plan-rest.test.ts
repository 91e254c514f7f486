/** What the plan of a control plane as pods does when there is nothing else to do: members, authority, moves. */
import type { Deployment, KubeObject, Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { ControlPlaneSpec } from "../runtime.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import { moved, reach, shared, started } from "./testing/moves.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { own, poolOf, specOf } from "./testing/spec.ts";

const names = ["api.test"];
const ofOne = specOf({ names });
const ofThree = specOf({ names, pods: own({ datastore: { members: 3 } }) });
const rotated: ControlPlaneSpec = { ...ofOne, rotationStage: { id: "2026-01-01T00:00:00Z", stage: "trust" } };

function completed(spec = ofOne): PlayedCluster {
  const cluster = new PlayedCluster();
  cluster.pool = poolOf();
  cluster.complete(spec);
  return cluster;
}
const seen = (cluster: PlayedCluster, spec: ControlPlaneSpec, changes: Partial<Observed> = {}) =>
  plan({ ...cluster.observe(spec), ...changes }, now);
const types = (cluster: PlayedCluster, spec: ControlPlaneSpec, changes: Partial<Observed> = {}) =>
  seen(cluster, spec, changes).steps.map((step) => ("id" in step ? `${step.type} ${step.id}` : step.type));
const without = ({ live }: PlayedCluster, id: string): Partial<Observed> => ({
  live: new Map([...live].filter(([each]) => each !== id)),
});
const crashing = (pods: readonly Pod[]): Partial<Observed> => {
  const state = { waiting: { reason: "ErrImagePull", message: "none" } };
  const [first] = pods;
  const pod = { ...first, status: { ...first?.status, containerStatuses: [{ state }] } } as unknown as Pod;
  return { pods: [...pods, pod] };
};
const policy = "NetworkPolicy/default-deny";

describe("another number of etcd members", () => {
  /** The change is noted, and one member is to be added. */
  const growing = (): PlayedCluster => {
    const cluster = completed();
    for (let turns = 0; turns < 5 && !types(cluster, ofThree).includes("add-etcd-member"); turns++)
      for (const step of seen(cluster, ofThree).steps) cluster.perform(step, now);
    cluster.rollOut("etcd");
    return cluster;
  };

  test("is changed when all else is done", () => {
    const cluster = growing();
    expect(types(cluster, ofThree)).toEqual(["add-etcd-member"]);
    expect(types(cluster, ofThree, without(cluster, policy))).toEqual([`apply ${policy}`]);
  });

  test("is reported while it is waited for, and read again the later the longer nothing changed", () => {
    const cluster = growing();
    const { status, wait } = seen(cluster, ofThree);
    expect(status.problem).toEqual({
      code: "CONTROL_PLANE_STARTING",
      message: "waiting for the members of etcd to change one by one",
      actor: "none",
    });
    expect(status).toMatchObject({ starting: true, names: [] });
    expect(wait?.until).toBe(now + 1_000);
    expect(seen(cluster, ofThree, { membersSince: now - 20_000 }).wait?.until).toBe(now + 5_000);
    expect(seen(cluster, ofThree, { membersSince: now - 4_000_000 }).wait?.until).toBe(now + 60_000);
    const failing = { membershipFailure: "refused", membersSince: now - 20_000 };
    expect(seen(cluster, ofThree, failing).status.problem?.code).toBe("PODS_ETCD_UNREACHABLE");
    expect(seen(cluster, ofThree, crashing(cluster.pods)).status.problem?.code).toBe("CONTROL_PLANE_IMAGE_MISSING");
  });

  test("is not what API servers that roll out wait for", () => {
    const cluster = growing();
    const program = cluster.live.get("Deployment/kube-apiserver") as Deployment;
    const status = { ...program.status, readyReplicas: 1 };
    const rolling = { ...program, status } as unknown as KubeObject;
    const live = new Map([...cluster.live, ["Deployment/kube-apiserver", rolling]]);
    expect(seen(cluster, ofThree, { live }).status.problem?.message).toBe("waiting for kube-apiserver");
  });
});

describe("the authority of etcd", () => {
  test("is rotated when all else is done, and all names are reported when that has ended", () => {
    const cluster = completed();
    expect(seen(cluster, ofOne)).toMatchObject({ steps: [], status: { names } });
    expect(seen(cluster, ofOne).status).not.toHaveProperty("starting");
    expect(types(cluster, rotated)).toEqual(["rotate-etcd-authority"]);
    expect(seen(cluster, rotated).status).toMatchObject({ ready: true, starting: true, names: [] });
    expect(types(cluster, rotated, without(cluster, policy))).toEqual([`apply ${policy}`]);
    const scheduler = cluster.live.get("Deployment/kube-scheduler") as Deployment;
    cluster.live.set("Deployment/kube-scheduler", { ...scheduler, status: {} } as Deployment);
    expect(types(cluster, rotated)).toEqual([]);
    expect(seen(cluster, rotated).status).toMatchObject({ starting: true, names: [] });
  });

  test("is that of others in the shared etcd", () => {
    const pooled = { ...rotated, pods: { datastore: { type: "Pooled" as const } } };
    const cluster = completed({ ...ofOne, pods: pooled.pods });
    const copy = completed().live.get("Secret/etcd-ca-copy");
    if (copy !== undefined) cluster.live.set("Secret/etcd-ca-copy", { ...copy, metadata: { name: "etcd-ca-copy" } });
    const { steps, status } = seen(cluster, pooled);
    expect(steps).toEqual([]);
    expect(status).not.toHaveProperty("starting");
    expect(status.names).toEqual(names);
  });

  test("of another rotation of the roots has API servers published with them last", () => {
    const rotation = { trusted: ["NEW"], serving: ofOne.authority, accountKeys: [] };
    const cluster = completed();
    const trusting = { ...ofOne, rotation };
    cluster.complete(trusting);
    const at = cluster.joinedAt ?? "";
    const [url = ""] = at.split("#");
    expect(at).toMatch(/#/);
    cluster.joinedAt = url;
    for (const step of seen(cluster, trusting).steps) if (step.type === "apply-namespace") cluster.perform(step, now);
    const { steps, status } = seen(cluster, trusting);
    expect(steps.map(({ type }) => type)).toEqual(["create-join-objects"]);
    expect(status.problem?.message).toBe("waiting for cluster-info to have the new roots");
  });
});

describe("a move to an own etcd", () => {
  test("waits for what is not as requested, and says so where nothing else is wrong", () => {
    const cluster = started();
    reach(cluster, "Starting");
    for (let turns = 0; turns < 8 && types(cluster, moved()).length > 0; turns++)
      for (const step of seen(cluster, moved()).steps) cluster.perform(step, now);
    expect(cluster.performed).toEqual([
      "begin-migration",
      "apply-namespace",
      "issue Secret/etcd-ca-copy",
      "copy Secret/etcd-ca",
      "apply NetworkPolicy/kube-apiserver",
      "apply NetworkPolicy/etcd",
      "issue Secret/etcd",
      "apply Service/etcd",
      "apply StatefulSet/etcd",
      "apply PodDisruptionBudget/etcd",
    ]);
    const { status } = seen(cluster, moved());
    const message = "moving to its own etcd: waiting for the members of its own etcd to start";
    expect(status.problem).toEqual({ code: "PODS_MIGRATING", message, actor: "none" });
    expect(status.message).toBe(`${message} (PODS_MIGRATING)`);
    expect(seen(cluster, moved(), crashing(cluster.pods)).status).toMatchObject({ ready: true });
    cluster.live.delete("Deployment/kube-scheduler");
    const broken = seen(cluster, moved(), crashing(cluster.pods));
    expect(broken.status.problem?.code).toBe("CONTROL_PLANE_IMAGE_MISSING");
  });

  test("has nothing made for machines while writes are refused", () => {
    const cluster = started();
    reach(cluster, "Freezing");
    cluster.takeOver();
    expect(types(cluster, moved())).toEqual(["thaw-datastore"]);
    cluster.complete(shared());
    cluster.joinedAt = undefined;
    expect(types(cluster, shared())).toEqual(["create-join-objects"]);
  });

  test("has what a stage does done alone", () => {
    const cluster = started();
    reach(cluster, "Copying");
    cluster.live.delete(policy);
    expect(types(cluster, shared())).toEqual(["record-migration"]);
  });
});

test("a control plane that is refused is reported as it was, and not as one that starts", () => {
  const { steps, status } = seen(completed(), { ...ofOne, version: "v1.12.0" });
  expect(steps).toEqual([]);
  expect(status).toMatchObject({ ready: true, endpoint: { host: "203.0.113.7", port: 6443 }, version: "v1.33.2" });
  expect(status).not.toHaveProperty("starting");
});
