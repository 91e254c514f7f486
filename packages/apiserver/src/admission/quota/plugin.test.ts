import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Operation, Phase } from "../../contract/admission.ts";
import type { Cluster } from "../../contract/cluster.ts";
import { define, STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { ThreadTime } from "../../contract/thread-time.ts";
import { at, type Json } from "../../json/json.ts";
import { admissionCluster, attemptOn, MAPS, type AttemptFields } from "../../testing/attempts.ts";
import { quotaPlugin } from "./plugin.ts";

const PODS = define({ kind: "Pod", plural: "pods" });
const SERVICES = define({ kind: "Service", plural: "services" });
const CLAIMS = define({ kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims" });
const QUOTAS = define({ kind: "ResourceQuota", plural: "resourcequotas", subresources: [STATUS] });

const quota = (name: string, hard: Json, used: Json, spec: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ResourceQuota",
  metadata: { name, namespace: "ns", uid: `uid-${name}` },
  spec,
  status: { hard, used },
});

async function opened(...quotas: readonly Json[]): Promise<Cluster> {
  return admissionCluster(
    { "/resourcequotas": quotas },
    { resources: [PODS, SERVICES, CLAIMS, QUOTAS], more: { thread: new ThreadTime() } },
  );
}

/** What the quotas have as used after an attempt, or why it is refused. */
async function used(cluster: Cluster, resource: Resource, attempt: AttemptFields): Promise<unknown> {
  try {
    await quotaPlugin(cluster).validate?.(attemptOn(cluster, resource, attempt).attempt);
  } catch (error) {
    return (error as Error).message;
  }
  const { items } = cluster.store.list({ cluster: "", resource: "/resourcequotas" });
  return items.map(({ object }) => at(object, "status", "used"));
}

const map = { metadata: { name: "o", namespace: "ns" } };
const pod = (spec: Json = {}): Json => ({ metadata: { name: "p", namespace: "ns" }, spec });

describe("a quota is charged", () => {
  test("what a write uses, in all quotas that count it", async () => {
    const cluster = await opened(
      quota("a", { configmaps: "3", pods: "9" }, { configmaps: "1", pods: "4" }),
      quota("b", { "count/configmaps": "2" }, { "count/configmaps": "0" }),
      quota("c", { pods: "1" }, { pods: "0" }),
    );
    expect(await used(cluster, MAPS, { object: map })).toEqual([
      { configmaps: "2", pods: "4" },
      { "count/configmaps": "1" },
      { pods: "0" },
    ]);
    expect(await used(cluster, MAPS, { object: map })).toMatchObject([{ configmaps: "3" }, {}, {}]);
    expect(await used(cluster, MAPS, { object: map })).toBe(
      'configmaps "o" is forbidden: exceeded quota: a, requested: configmaps=1, used: configmaps=3, limited: configmaps=3',
    );
  });

  test("nothing where the quota has changed meanwhile", async () => {
    const stale = await opened(quota("a", { configmaps: "3" }, { configmaps: "1" }));
    const cluster = await opened(quota("a", {}, {}));
    const list = () => stale.store.list({ cluster: "", resource: "/resourcequotas" });
    const store = Object.assign(Object.create(cluster.store) as typeof cluster.store, { list });
    await quotaPlugin({ ...cluster, store } as Cluster).validate?.(
      attemptOn({ ...cluster, store } as Cluster, MAPS, { object: map }).attempt,
    );
    const key = { cluster: "", resource: "/resourcequotas", namespace: "ns", name: "a" };
    expect(at(cluster.store.get(key)?.object, "status", "used")).toEqual({});
  });

  test("by the server, which owns what it writes", async () => {
    const fieldsV1 = { "f:spec": { "f:hard": {} } };
    const entry = { manager: "kubectl", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 };
    const given = quota("a", { configmaps: "3" }, { configmaps: "1" });
    const cluster = await opened({
      ...given,
      metadata: { name: "a", namespace: "ns", uid: "u", managedFields: [entry] },
    });
    await used(cluster, MAPS, { object: map });
    const { items } = cluster.store.list({ cluster: "", resource: "/resourcequotas" });
    const owners = items[0]?.object.metadata.managedFields?.map((m) => [m.manager, m.subresource, m.fieldsV1]);
    expect(owners).toEqual([
      ["kubectl", undefined, fieldsV1],
      ["causeway-apiserver", "status", { "f:status": { "f:used": { "f:configmaps": {} } } }],
    ]);
  });

  test("nothing where another quota refuses", async () => {
    const cluster = await opened(
      quota("a", { configmaps: "3" }, { configmaps: "1" }),
      quota("b", { configmaps: "1" }, { configmaps: "1" }),
    );
    expect(await used(cluster, MAPS, { object: map })).toContain("exceeded quota: b");
    const { items } = cluster.store.list({ cluster: "", resource: "/resourcequotas" });
    expect(at(items[0]?.object, "status", "used")).toEqual({ configmaps: "1" });
  });

  test("nothing by a dry run, which may still be refused", async () => {
    const cluster = await opened(quota("a", { configmaps: "1" }, { configmaps: "0" }));
    expect(await used(cluster, MAPS, { object: map, dryRun: true })).toEqual([{ configmaps: "0" }]);
    const full = await opened(quota("a", { configmaps: "1" }, { configmaps: "1" }));
    expect(await used(full, MAPS, { object: map, dryRun: true })).toContain("exceeded quota: a");
  });

  test("nothing in other namespaces", async () => {
    const cluster = await opened(quota("a", { configmaps: "1" }, { configmaps: "0" }));
    expect(await used(cluster, MAPS, { object: map, namespace: "other" })).toEqual([{ configmaps: "0" }]);
  });

  test("a pod when it is made, and again when it gets a deadline", async () => {
    const terminating = quota("t", { pods: "5" }, { pods: "0" }, { scopes: ["Terminating"] });
    const all = quota("a", { pods: "5" }, { pods: "0" });
    const charged = async (attempt: AttemptFields): Promise<unknown> =>
      used(await opened(all, terminating), PODS, attempt);
    const deadline = pod({ activeDeadlineSeconds: 5 });
    expect(await charged({ object: pod() })).toEqual([{ pods: "1" }, { pods: "0" }]);
    expect(await charged({ object: deadline })).toEqual([{ pods: "1" }, { pods: "1" }]);
    const update = { operation: "UPDATE" } as const;
    expect(await charged({ ...update, object: deadline, old: pod() })).toEqual([{ pods: "0" }, { pods: "1" }]);
    expect(await charged({ ...update, object: deadline, old: deadline })).toEqual([{ pods: "0" }, { pods: "0" }]);
  });

  test("no pod without what it has to say, unless its scopes remain", async () => {
    const cluster = await opened(quota("a", { "limits.cpu": "5" }, { "limits.cpu": "0" }));
    const object = pod({ containers: [{ name: "c" }] });
    expect(await used(cluster, PODS, { object })).toContain("failed quota: a: must specify limits.cpu");
    expect(await used(cluster, PODS, { operation: "UPDATE", object, old: object })).toEqual([{ "limits.cpu": "0" }]);
  });

  test("a claim as it grows", async () => {
    const claim = (storage: string): Json => ({ ...map, spec: { resources: { requests: { storage } } } });
    const cluster = await opened(quota("a", { "requests.storage": "5Gi" }, { "requests.storage": "1Gi" }));
    const update: AttemptFields = { operation: "UPDATE", object: claim("3Gi"), old: claim("1Gi") };
    expect(await used(cluster, CLAIMS, update)).toEqual([{ "requests.storage": "3Gi" }]);
  });

  test("nothing where the cluster has no quotas as a kind", async () => {
    const cluster = await admissionCluster(
      { "/resourcequotas": [quota("a", { configmaps: "1" }, { configmaps: "0" })] },
      { more: { thread: new ThreadTime() } },
    );
    expect(await used(cluster, MAPS, { object: map })).toEqual([{ configmaps: "0" }]);
  });
});

describe("quotas concern", () => {
  test.each<[string, Resource, AttemptFields, Phase, boolean]>([
    ["what is created in a namespace with one", MAPS, {}, "validate", true],
    ["nothing in others", MAPS, { namespace: "x" }, "validate", false],
    ["nothing while it is changed", MAPS, {}, "mutate", false],
    ["no deletion", PODS, { operation: "DELETE" }, "validate", false],
    ["no subresource", PODS, { subresource: "status", operation: "UPDATE" }, "validate", false],
    ["no update", MAPS, { operation: "UPDATE" }, "validate", false],
    ["updates of pods", PODS, { operation: "UPDATE" }, "validate", true],
    ["updates of services", SERVICES, { operation: "UPDATE" }, "validate", true],
    ["updates of claims", CLAIMS, { operation: "UPDATE" }, "validate", true],
  ])("%s", async (_what, resource, attempt, phase, expected) => {
    const cluster = await opened(quota("a", {}, {}));
    const { call, operation } = attemptOn(cluster, resource, attempt).attempt;
    expect(quotaPlugin(cluster).concerns(call, operation, phase)).toBe(expected);
  });

  test("writes from the commit of the first one on", async () => {
    const cluster = await opened();
    const plugin = quotaPlugin(cluster);
    const { call } = attemptOn(cluster, MAPS).attempt;
    const concerned = (): boolean => plugin.concerns(call, "CREATE" satisfies Operation, "validate");
    expect(concerned()).toBe(false);
    const object = quota("a", {}, {}) as unknown as KubeObject;
    await cluster.store.create({ cluster: "", resource: "/resourcequotas", namespace: "ns", name: "a" }, object);
    cluster.changes.emit({ type: "MODIFIED", resource: QUOTAS, object });
    cluster.changes.emit({ type: "ADDED", resource: MAPS, object });
    expect(concerned()).toBe(false);
    cluster.changes.emit({ type: "ADDED", resource: QUOTAS, object });
    expect(concerned()).toBe(true);
  });
});
