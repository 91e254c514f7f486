import type { KubeObject, Namespace, Secret, StatefulSet } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { rangeOf } from "../../etcd/range.ts";
import { idAnnotation, initializedAnnotation, ownerAnnotation } from "../tenant.ts";
import { annotated, nothing, now, podOf, serving, settings, settle } from "../testing/shared-etcd.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

describe("the etcd that control planes share", () => {
  test("is created in order, and makes every client a user when it has a quorum", () => {
    const { world, performed } = settle(nothing);
    const namespace = `Namespace/${nothing.namespaceName}`;
    expect(performed).toEqual([
      `apply-namespace ${namespace}`,
      "issue",
      "issue",
      "copy",
      "copy",
      `apply-namespace ${namespace}`,
      "issue",
      "apply Service/etcd",
      "apply StatefulSet/etcd",
      "apply PodDisruptionBudget/etcd",
      "apply NetworkPolicy/default-deny",
      "apply NetworkPolicy/etcd",
    ]);
    expect((world.live.get("StatefulSet/etcd") as StatefulSet).spec.replicas).toBe(3);
    expect(plan({ ...world, pods: [podOf(0)] }, now)).toMatchObject({ steps: [], status: { ready: false } });
    const quorum = { ...world, pods: [podOf(0), podOf(1)] };
    expect(settle(quorum).performed).toEqual(["enable-auth"]);
    const { status } = plan(settle(quorum).world, now);
    expect(status).toMatchObject({ ready: true, access: { addresses: ["10.0.0.0", "10.0.0.1"] } });
  });

  test("is created with keys that are never made again, and certificates of its authority", () => {
    const keys = settle(nothing).issued.flatMap((step) => (step.type === "issue" ? step.credentials : []));
    const once = { inputs: "once", once: true };
    expect(keys.slice(0, 2)).toEqual([
      { name: "etcd-ca-copy", entries: [{ type: "authority", file: "ca", commonName: "etcd-ca" }], ...once },
      { name: "etcd-root-copy", entries: [{ type: "password", file: "password" }], ...once },
    ]);
    expect(keys[2]).toMatchObject({
      name: "etcd",
      once: false,
      entries: [{ file: "ca.crt", text: "x" }, { file: "server" }],
    });
    expect(settle(nothing).world.namespace?.metadata.annotations?.[idAnnotation]).toBe("etcd");
  });

  test("is used and not changed by another management cluster, whatever its settings are", () => {
    const { world } = settle(nothing);
    const settingsThere = { owner: "there", registry: "elsewhere", pool: { members: 1 as const } };
    const foreign = { ...world, settings: settingsThere, isOfAnother: true, isForeign: true };
    const later = now + 10 * 365 * 24 * 3600_000;
    expect(plan(foreign, later)).toMatchObject({ steps: [], status: { ready: false } });
    const serving = { ...foreign, pods: [podOf(0), podOf(1)] };
    expect(plan(serving, later).steps).toMatchObject([{ type: "enable-auth" }]);
    expect(plan({ ...serving, authEnabled: true }, later)).toMatchObject({
      steps: [],
      status: { ready: true, access: { addresses: ["10.0.0.0", "10.0.0.1"] } },
    });
    const { status } = plan({ ...serving, isForeign: false }, now);
    expect(status).toMatchObject({ ready: false, problem: { code: "PODS_NAMESPACE_FOREIGN" } });
  });

  test("is led by the member that is restarted last, or was restarted", () => {
    const { world } = settle(nothing);
    const podsAt = (...revisions: string[]) =>
      revisions.map((revision, index) => {
        const pod = podOf(index);
        const labels = { ...pod.metadata.labels, "controller-revision-hash": revision };
        return { ...pod, metadata: { ...pod.metadata, labels } };
      });
    const etcd = world.live.get("StatefulSet/etcd") as StatefulSet;
    const leaders = (update: string, ...revisions: string[]) => {
      const status = { ...etcd.status, currentRevision: "a", updateRevision: update } as NonNullable<
        StatefulSet["status"]
      >;
      const live = new Map([...world.live, ["StatefulSet/etcd", { ...etcd, status } as KubeObject]]);
      return plan({ ...world, live, pods: podsAt(...revisions) }, now).status.leaders;
    };
    expect(leaders("a", "a", "a", "a")).toEqual(["10.0.0.0", "10.0.0.1", "10.0.0.2"]);
    expect(leaders("b", "a", "a", "b")).toEqual(["10.0.0.2", "10.0.0.0", "10.0.0.1"]);
    // A pod that has an old revision after a rollout was not restarted by it.
    expect(leaders("a", "b", "a", "b")).toEqual(["10.0.0.0", "10.0.0.1", "10.0.0.2"]);
    const ending = { ...podOf(0), metadata: { ...podOf(0).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    const statusOf = (change: object) => ({ ...podOf(1), status: { ...podOf(1).status, ...change } }) as typeof ending;
    const conditions = [
      { type: "Ready", status: "False" },
      { type: "Other", status: "True" },
    ];
    const others = [statusOf({ conditions }), statusOf({ podIP: undefined }), podOf(10), podOf(2)];
    expect(plan({ ...world, pods: [ending, ...others] }, now).status.leaders).toEqual(["10.0.0.2", "10.0.0.10"]);
  });

  test("keeps its number of members when the settings change", () => {
    const { world } = settle(nothing);
    expect(plan({ ...world, settings: { ...settings, pool: { members: 1 } } }, now).steps).toEqual([]);
  });

  test("is made and repaired by one process, and every process makes sure that clients are users", () => {
    expect(plan({ ...nothing, isOfAnother: true }, now)).toMatchObject({ steps: [], status: { ready: false } });
    const { live } = serving();
    const lost = new Map([...live].filter(([id]) => id !== "Service/etcd"));
    expect(plan({ ...serving(), live: lost }, now).steps.map(({ type }) => type)).toEqual(["apply"]);
    expect(plan({ ...serving(), live: lost, isOfAnother: true }, now).steps).toEqual([]);
    expect(plan({ ...serving(), isOfAnother: true }, now).steps.map(({ type }) => type)).toEqual(["enable-auth"]);
    expect(plan({ ...serving(), isOfAnother: true, isForeign: true, pods: [] }, now).steps).toEqual([]);
  });

  test.for<[title: string, members: 1 | 3 | undefined, ready: number, isReached: boolean]>([
    ["of three members has a quorum with two", undefined, 2, true],
    ["of three members has none with one", 3, 1, false],
    ["of one member has a quorum with that one", 1, 1, true],
    ["of one member has none without it", 1, 0, false],
  ])("%s", ([, members, ready, isReached]) => {
    const settled = settle({ ...nothing, settings: { ...settings, ...(members ? { pool: { members } } : {}) } }).world;
    const pods = [0, 1, 2].map((index) => {
      const pod = podOf(index);
      return index < ready
        ? pod
        : { ...pod, status: { ...pod.status, conditions: [{ type: "Ready", status: "False" }] } };
    }) as Observed["pods"];
    const status = (more: Partial<Observed>) => plan({ ...settled, pods, authEnabled: true, ...more }, now).status;
    expect(status({}).ready).toBe(isReached);
    expect(status({}).access !== undefined).toBe(isReached);
    // Every client could read the data of others.
    expect(status({ authEnabled: false }).ready).toBe(false);
    const waiting = { code: "CONTROL_PLANE_STARTING", message: "waiting for the pooled etcd", actor: "none" };
    if (isReached) expect(status({})).not.toHaveProperty("problem");
    else expect(status({}).problem).toEqual(waiting);
    const hosts = Array.from(
      { length: members ?? 3 },
      (_, index) => `https://etcd-${index}.etcd.${nothing.namespaceName}.svc:2379`,
    );
    expect(status({}).servers).toEqual(hosts);
    const addressless = pods.map((pod) => ({
      ...pod,
      status: { ...pod.status, podIP: undefined },
    })) as unknown as Observed["pods"];
    expect(status({ pods: addressless }).ready).toBe(false);
  });

  test("is reached by the name of its Service, with its authority and password", () => {
    const { live: before, ...world } = serving();
    const live = new Map(before);
    const text = (value: string) => Buffer.from(value).toString("base64");
    const secrets = {
      "etcd-root": { password: text("word") },
      "etcd-ca": { "ca.crt": text("CA"), "ca.key": text("KEY") },
    };
    for (const [name, data] of Object.entries(secrets))
      for (const each of [name, `${name}-copy`])
        live.set(`Secret/${each}`, { ...live.get(`Secret/${each}`), data } as unknown as KubeObject);
    const { status } = plan({ ...world, live, isOfAnother: true, isForeign: true }, now);
    const authority = { certificate: "CA", key: "KEY" };
    expect(status.access).toEqual({
      addresses: ["10.0.0.0", "10.0.0.1", "10.0.0.2"],
      port: 2379,
      serverName: `etcd.${nothing.namespaceName}.svc`,
      authority,
      password: "word",
    });
    expect(status).toMatchObject({ authority, namespaceName: nothing.namespaceName, storage: {} });
    expect(plan(nothing, now).status).not.toHaveProperty("authority");
  });

  test("is of the newest version in the table, with the volumes that the operator wants", () => {
    const etcdIn = (pool: object, versions = {}) => {
      const { live } = settle({ ...nothing, settings: { ...settings, pool, versions } }).world;
      return live.get("StatefulSet/etcd") as StatefulSet;
    };
    const claim = (pool: object) => JSON.stringify(etcdIn(pool).spec["volumeClaimTemplates"]);
    expect(claim({})).toContain('"storage":"8Gi"');
    expect(claim({})).not.toContain("storageClassName");
    expect(claim({ storage: "20Gi", storageClassName: "fast" })).toMatch(/"storageClassName":"fast".*"storage":"20Gi"/);
    const container = (versions: object) => etcdIn({}, versions).spec.template.spec.containers[0];
    expect(container({})?.image).toBe("registry.k8s.io/etcd:3.6.4-0");
    expect(container({ "v1.90": { etcd: "9" } })?.image).toBe("registry.k8s.io/etcd:9");
    const command = container({})?.command ?? [];
    expect(command).toContain(`--quota-backend-bytes=${6 * 2 ** 30}`);
    expect(command.some((each) => each.startsWith("--auto-compaction"))).toBe(true);
    expect(JSON.stringify(settle({ ...nothing, settings: { ...settings, clusterDomain: "d.test" } }).issued)).toContain(
      ".svc.d.test",
    );
    expect(JSON.stringify(settle(nothing).issued)).toContain(".svc.cluster.local");
  });

  test("restarts when its certificates change", () => {
    const world = serving();
    const before = world.live.get("Secret/etcd") as Secret;
    const renewed = { ...before, data: { ...before.data, "server.crt": "bmV3" } } as KubeObject;
    const live = new Map([...world.live, ["Secret/etcd", renewed]]);
    expect(plan({ ...world, live, authEnabled: true }, now).steps).toMatchObject([{ id: "StatefulSet/etcd" }]);
  });

  const foundOf = ({ namespace }: Observed) => {
    const { [initializedAnnotation]: _initialized, ...annotations } = namespace?.metadata.annotations ?? {};
    return annotations;
  };
  const refused: [string, (world: Observed) => Partial<Observed>, code: string, message: string][] = [
    [
      "gone, and control planes served from it",
      () => ({ namespace: undefined, holdsData: true }),
      "PODS_DATA_LOST",
      "with the etcd of the control planes does not exist in the service cluster; restore it from a backup",
    ],
    [
      "of another management cluster",
      (world) => annotated(world, { [ownerAnnotation]: "there" }),
      "PODS_NAMESPACE_FOREIGN",
      "of the service cluster belongs to another",
    ],
    [
      "not that of a shared etcd, whosever it is",
      (world) => ({ ...annotated(world, { [idAnnotation]: "team.web" }), isForeign: true }),
      "PODS_NAMESPACE_FOREIGN",
      "of the service cluster belongs to another",
    ],
    [
      "being deleted",
      ({ namespace }) => {
        const metadata = { ...namespace?.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
        return { namespace: { ...namespace, metadata } as Namespace };
      },
      "PODS_NAMESPACE_DELETED",
      "with the etcd of the control planes is being deleted",
    ],
    [
      "another's",
      ({ namespace }) => ({ namespace: { ...namespace, metadata: { name: "x" } } as Namespace }),
      "PODS_NAMESPACE_FOREIGN",
      nothing.namespaceName,
    ],
    [
      "without its password",
      ({ live }) => ({ live: new Map([...live].filter(([id]) => !id.startsWith("Secret/etcd-root"))) }),
      "PODS_POOL_SECRET_LOST",
      "without its password",
    ],
    [
      "without its authority",
      ({ live }) => ({ live: new Map([...live].filter(([id]) => !id.startsWith("Secret/etcd-ca"))) }),
      "PODS_AUTHORITY_LOST",
      "of its authority",
    ],
    [
      "not initialized, and its etcd was made, without its authority",
      (world) => ({
        namespace: {
          ...world.namespace,
          metadata: { ...world.namespace?.metadata, annotations: foundOf(world) },
        } as Namespace,
        live: new Map([...world.live].filter(([id]) => !id.startsWith("Secret/etcd-ca"))),
      }),
      "PODS_AUTHORITY_LOST",
      "of its authority",
    ],
    [
      "initialized, and its etcd was not made yet, without its authority",
      ({ live }) => ({
        live: new Map([...live].filter(([id]) => !id.startsWith("Secret/etcd-ca") && id !== "StatefulSet/etcd")),
      }),
      "PODS_AUTHORITY_LOST",
      "of its authority",
    ],
  ];
  test.each(refused)("is not touched when its namespace is %s", (_, change, code, message) => {
    const { world } = settle(nothing);
    const { steps, status, wait } = plan({ ...world, ...change(world) }, now);
    expect(steps).toEqual([]);
    expect(status).toMatchObject({ ready: false, problem: { code, actor: "operator" } });
    expect(status.problem?.message).toContain(message);
    expect(wait).toEqual({ for: status.problem?.message });
  });
});

test("the range of a prefix ends before any other prefix", () => {
  const text = (encoded: string) => Buffer.from(encoded, "base64").toString();
  const { key, range_end } = rangeOf("/hcp-web-0/");
  expect([text(key), text(range_end)]).toEqual(["/hcp-web-0/", "/hcp-web-00"]);
  for (const other of ["/hcp-web-00/", "/hcp-web-1/", "/hcp-web-/"])
    expect(other >= text(key) && other < text(range_end)).toBe(false);
});
