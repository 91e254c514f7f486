import { systemClock } from "@causeway/foundation";
import type { Service } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { plan } from "../plan.ts";
import { performMigration, type Migrations } from "./perform-migration.ts";
import { budgetOf } from "../sizes.ts";
import { pooledNames, sharesWanted, storageTenants } from "../storage/shares.ts";
import { advance, copy, moved, reach, shared, started, turn } from "../testing/moves.ts";
import type { MovingCluster } from "../testing/moving-cluster.ts";
import { now } from "../testing/played-cluster.ts";
import { own, specOf } from "../testing/spec.ts";
import { COPY_LIMIT, FREEZE_LIMIT, RETENTION } from "./plan-migration.ts";

describe("a control plane that moves from the shared etcd to its own", () => {
  test("that another process copied again accepts writes when it is withdrawn, or late", () => {
    for (const isLate of [false, true]) {
      const cluster = started();
      reach(cluster, "Freezing");
      cluster.takeOver();
      reach(cluster, "Switching");
      expect([isLate, cluster.frozen]).toEqual([isLate, true]);
      if (isLate) reach(cluster, "Starting", { at: now + FREEZE_LIMIT - 2_000 });
      else reach(cluster, "Withdrawn", { spec: shared() });
      expect([isLate, cluster.frozen]).toEqual([isLate, false]);
    }
  });

  test("that returns accepts writes first, whatever else there is to do or is missing", () => {
    const cluster = started();
    reach(cluster, "Switching");
    turn(cluster, moved(), now);
    const at = now + FREEZE_LIMIT - 2_000;
    for (const step of plan(cluster.observe(moved()), at).steps) cluster.perform(step, at);
    expect([cluster.record?.stage, cluster.frozen]).toEqual(["Returning", true]);
    // As that of a new cluster, whose load balancer has no address yet.
    const service = cluster.live.get("Service/kube-apiserver") as Service;
    cluster.live.set("Service/kube-apiserver", { ...service, status: {} } as Service);
    cluster.live.delete("Secret/etcd-client");
    expect(plan(cluster.observe(moved()), at).steps.map(({ type }) => type)).toEqual(["thaw-datastore"]);
    turn(cluster, moved(), at);
    expect(cluster.frozen).toBe(false);
  });

  test("that a late process froze while it returned accepts writes in the end", () => {
    const cluster = started();
    reach(cluster, "Switching");
    reach(cluster, "Returning", { spec: shared() });
    turn(cluster, shared(), now);
    expect([cluster.record?.stage, cluster.frozen]).toEqual(["Returning", false]);
    cluster.frozen = true;
    reach(cluster, "Withdrawn", { spec: shared() });
    expect(cluster.frozen).toBe(false);
  });

  test("leads clients to API servers that are ready, and not to where an evicted one was", () => {
    const cluster = started();
    reach(cluster, "Copying");
    copy(cluster);
    const serving = cluster.pods.find(({ metadata }) => metadata.name.startsWith("kube-apiserver"));
    if (serving === undefined) throw new Error("there is an API server");
    const labels = { ...serving.metadata.labels, "pod-template-hash": "older" };
    const metadata = { ...serving.metadata, name: "kube-apiserver-older", labels };
    cluster.pods.unshift({ ...serving, metadata, status: { ...serving.status, phase: "Failed", conditions: [] } });
    const ending = { ...metadata, name: "kube-apiserver-ending", deletionTimestamp: "2026-01-01T00:00:00Z" };
    cluster.pods.unshift({ ...serving, metadata: ending });
    reach(cluster, "Freezing");
    expect(cluster.record?.heldBy).toBe(serving.metadata.labels?.["pod-template-hash"]);
  });

  test("has nothing written by this program while writes are refused, and to no API server with the own etcd before it serves", () => {
    const cluster = started();
    const before = plan(cluster.observe(shared()), now).status.inside;
    expect(before?.length).toBeGreaterThan(1);
    reach(cluster, "Switching");
    cluster.takeOver();
    const joins = cluster.performed.filter((each) => each === "create-join-objects").length;
    turn(cluster, moved(), now);
    expect(cluster.performed.filter((each) => each === "create-join-objects")).toHaveLength(joins);
    advance(cluster);
    expect(plan(cluster.observe(moved()), now).status.inside).toEqual(before);
    reach(cluster, "Retained");
    turn(cluster, moved(), now);
    expect(cluster.performed.at(-1)).toBe("create-join-objects");
    expect(plan(cluster.observe(moved()), now).status.inside).not.toEqual(before);
  });

  test("keeps to the operator's ceilings until there are volumes, and then to those that it began with", () => {
    const etcdOf = (storage: string, storageClassName: string) =>
      specOf({ pods: own({ datastore: { members: 3, storage, storageClassName } }) });
    const [small, large] = [etcdOf("9Gi", "standard"), etcdOf("500Gi", "premium")];
    const ceilings = { storage: "10Gi", storageClasses: ["standard"] };
    const volumes = ({ live }: MovingCluster) => JSON.stringify(live.get("StatefulSet/etcd"));
    const cluster = started();
    cluster.settings = { ...cluster.settings, ceilings };
    expect(plan(cluster.observe(large), now).status.problem?.code).toBe("PODS_CEILING_EXCEEDED");
    reach(cluster, "Starting", { spec: small });
    expect(turn(cluster, large, now).status.problem?.code).toBe("PODS_CEILING_EXCEEDED");
    expect(cluster.live.has("StatefulSet/etcd")).toBe(false);
    // Another request that is allowed is followed still.
    turn(cluster, etcdOf("10Gi", "standard"), now);
    expect(volumes(cluster)).toContain('"storage":"10Gi"');
    reach(cluster, "Switching", { spec: large });
    turn(cluster, large, now);
    expect(volumes(cluster)).toContain('"storage":"10Gi"');
    expect(volumes(cluster)).not.toContain("premium");
    // So is the next attempt.
    const at = now + FREEZE_LIMIT;
    reach(cluster, "Starting", { spec: small, at });
    const later = cluster.record?.retryAt ?? 0;
    expect(turn(cluster, large, later).status.problem?.code).toBe("PODS_CEILING_EXCEEDED");
    reach(cluster, "Retained", { spec: small, at: later });
    expect(volumes(cluster)).toContain('"storage":"9Gi"');
    expect(turn(cluster, large, later).status.problem?.code).toBe("PODS_STORAGE_INVALID");
  });

  test("is copied when no other one is, and of two that began at once the one with the smaller name is first", () => {
    const cluster = started();
    const withOthers = (...otherCopies: string[]) => plan({ ...cluster.observe(moved()), otherCopies }, now);
    for (let turns = 0; turns < 12; turns++) {
      const { steps } = withOthers("hcp-a");
      for (const step of steps) cluster.perform(step, now);
      if (steps.length === 0) advance(cluster);
    }
    const { status, wait } = withOthers("hcp-a");
    expect([cluster.record?.stage, status.problem?.code, wait?.until]).toEqual([
      "Starting",
      "PODS_MIGRATING",
      now + 5_000,
    ]);
    expect(status.message).toContain("the data of another control plane");
    reach(cluster, "Copying");
    for (let turns = 0; turns < 30 && withOthers("hcp-a").steps.length > 0; turns++)
      for (const step of withOthers("hcp-a").steps) cluster.perform(step, now);
    advance(cluster);
    expect(withOthers("hcp-a")).toMatchObject({ steps: [], status: { problem: { code: "PODS_MIGRATING" } } });
    expect(withOthers("hcp-zzz").steps.map(({ type }) => type)).toEqual(["copy-datastore"]);
    // That one is copied already: its own record came first.
    const observed = { ...cluster.observe(moved()), otherCopies: ["hcp-zzz"], isOtherCopied: true };
    expect(plan(observed, now)).toMatchObject({ steps: [], status: { problem: { code: "PODS_MIGRATING" } } });
  });

  test("is not copied next to another one, whatever both saw, and one whose copy fails holds up none", async () => {
    const copies: Migrations["copies"] = new Map();
    const { signal } = new AbortController();
    const access = { addresses: [], certificates: undefined as never };
    const [from, to] = [
      { access, prefix: "/a/" },
      { access, prefix: "/a/" },
    ] as never[];
    const copyOf = (namespaceName: string) => {
      const record = { stage: "Copying", attempt: 1, revision: 1, members: 1 } as const;
      const step = { type: "copy-datastore", record, from: from as never, to: to as never } as const;
      const using = { migrations: { copies, remember: () => {} }, clock: systemClock } as never;
      return performMigration(using, step, { namespaceName, namespace: undefined }, signal);
    };
    const first = copyOf("hcp-a");
    expect([...copies.keys()]).toEqual(["hcp-a"]);
    expect(await copyOf("hcp-b")).toBe("deferred");
    await expect(first).rejects.toThrow();
    expect(copies.size).toBe(0);
    await expect(copyOf("hcp-b")).rejects.toThrow();
  });

  test("whose copies fail all the time goes back, and says why", () => {
    const cluster = started();
    reach(cluster, "Copying");
    // An attempt ended between the mark of a complete copy and its record.
    cluster.own = { ...cluster.own, complete: true };
    advance(cluster);
    reach(cluster, "Returning", { at: now + COPY_LIMIT });
    expect(cluster.record?.failure).toBe("the data was not copied within 30 min");
    expect(cluster.performed.filter((each) => each === "freeze-datastore")).toEqual([]);
  });

  test("has its budget in the shared etcd until its old data is deleted, whatever is refused meanwhile", () => {
    const cluster = started();
    reach(cluster, "Retained");
    cluster.complete(moved());
    const { owner } = cluster.settings;
    const namespaces = () => (cluster.namespace === undefined ? [] : [cluster.namespace]);
    const shares = () => sharesWanted({ owner, namespaces: namespaces(), requested: [moved()] });
    expect(shares()).toMatchObject([{ id: "default.web", granted: budgetOf(shared()) }]);
    // Nothing writes there, and it trusts another authority.
    expect([storageTenants(owner, namespaces()), pooledNames(owner, namespaces())]).toEqual([[], []]);
    const refused = turn(cluster, shared(), now);
    expect([refused.status.problem?.code, refused.wait?.until]).toEqual(["PODS_DATASTORE_CHANGED", now + RETENTION]);
    turn(cluster, shared(), now + RETENTION);
    expect([cluster.shared.isRemoved, cluster.record?.stage]).toEqual([true, "Done"]);
    cluster.complete(moved());
    expect(shares()).toEqual([]);
  });
});
