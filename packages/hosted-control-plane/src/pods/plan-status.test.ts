/** What the plan of a control plane as pods says of it, what it waits for, and what it leaves alone. */
import type { KubeObject, Namespace, Pod, Service } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { ControlPlaneSpec } from "../runtime.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import { joinMark } from "./plan-join.ts";
import type { PoolState } from "./pool/state.ts";
import {
  appliedAnnotation,
  budgetAnnotation,
  componentLabel,
  datastoreAnnotation,
  grantedAnnotation,
  inputsAnnotation,
  joinedAnnotation,
  migratingAnnotation,
  poolAnnotation,
  renewAtAnnotation,
  restoredAnnotation,
} from "./tenant.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { own, poolOf, specOf } from "./testing/spec.ts";

const DAY = 24 * 3600_000;
const pooled = (changes: Partial<ControlPlaneSpec> = {}) =>
  specOf({ pods: { datastore: { type: "Pooled" } }, ...changes });

function completed(spec = specOf(), settings: ConstructorParameters<typeof PlayedCluster>[0] = {}): PlayedCluster {
  const cluster = new PlayedCluster(settings);
  cluster.pool = poolOf();
  cluster.complete(spec);
  cluster.performed.splice(0);
  return cluster;
}
const seen = (cluster: PlayedCluster, changes: Partial<Observed> = {}, spec = specOf()) =>
  plan({ ...cluster.observe(spec), ...changes }, now);
const withService = (cluster: PlayedCluster, change: (service: Service) => object) => {
  const service = cluster.live.get("Service/kube-apiserver") as Service;
  cluster.live.set("Service/kube-apiserver", { ...service, ...change(service) } as Service);
};

describe("the wait of a control plane as pods", () => {
  test("is for keys and certificates at first, which no user has to repair", () => {
    const { status, steps } = seen(new PlayedCluster());
    expect(steps.map(({ type }) => type)).toEqual(["apply-namespace"]);
    const problem = {
      code: "CONTROL_PLANE_STARTING",
      actor: "none",
      message: "keys and certificates are being created",
    };
    expect(status).toMatchObject({ ready: false, starting: true, problem });
    expect(status.message).toBe("keys and certificates are being created (CONTROL_PLANE_STARTING)");
  });

  test.for<[title: string, ingress: object[] | undefined, code: string, actor: string, text: string]>([
    ["no address yet", undefined, "PODS_ENDPOINT_PENDING", "operator", "assign an address to Service kube-apiserver"],
    ["an empty list", [], "PODS_ENDPOINT_PENDING", "operator", "assign an address to Service kube-apiserver"],
    [
      "a name only",
      [{ hostname: "lb.test" }],
      "PODS_ENDPOINT_MISSING",
      "user",
      "has the name lb.test and no address, but kube-apiserver can advertise an address only: set spec.endpoint.host",
    ],
  ])(
    "is for an endpoint of a load balancer that has %s, and nothing is read again for it",
    ([, ingress, code, actor, text]) => {
      const cluster = new PlayedCluster();
      cluster.settle(specOf());
      withService(cluster, () => ({ status: { loadBalancer: ingress === undefined ? undefined : { ingress } } }));
      const { status, wait, steps } = seen(cluster);
      expect(steps).toEqual([]);
      expect(status.problem).toMatchObject({ code, actor });
      expect(status.problem?.message).toContain(text);
      expect(wait).toEqual({ for: status.problem?.message });
    },
  );

  test("is over with a load balancer that has a name and an address", () => {
    const cluster = new PlayedCluster();
    cluster.settle(specOf());
    const status = { loadBalancer: { ingress: [{ hostname: "lb.test", ip: "203.0.113.7" }] } };
    withService(cluster, () => ({ status }));
    expect(seen(cluster).status).toMatchObject({ endpoint: { host: "203.0.113.7", port: 6443 } });
  });

  test.for<
    [
      title: string,
      Partial<ControlPlaneSpec>,
      ConstructorParameters<typeof PlayedCluster>[0],
      code: string,
      again: number | undefined,
    ]
  >([
    ["another control plane to go", { replicas: 9 }, { ceilings: { replicas: 3 } }, "PODS_CEILING_EXCEEDED", 300_000],
    ["a change of the object", { version: "v1.12.0" }, {}, "PODS_VERSION_NOT_SERVED", undefined],
  ])("is for %s, where it is refused", ([, changes, settings, code, again]) => {
    const { status, wait, steps } = seen(completed(specOf(), settings), {}, specOf(changes));
    expect([steps, status.problem?.code]).toEqual([[], code]);
    expect(wait).toEqual({ for: status.problem?.message, ...(again === undefined ? {} : { until: now + again }) });
  });

  test("is for each program in turn, then the roots that machines read", () => {
    const cluster = new PlayedCluster();
    const spec = specOf();
    const said: (string | undefined)[] = [];
    for (let turn = 0; turn < 8; turn++) {
      const { status } = cluster.settle(spec);
      if (said.at(-1) !== status.problem?.message) said.push(status.problem?.message);
      cluster.assignAddress();
      cluster.rollOut();
    }
    expect(said).toEqual([
      "waiting for the service cluster to assign an address to Service kube-apiserver",
      "waiting for etcd",
      "waiting for kube-apiserver",
      "waiting for the controllers",
      undefined,
    ]);
  });

  test("is for the restore once etcd runs, and pods are reported before all of that", () => {
    const cluster = new PlayedCluster();
    const spec = specOf({ restore: { folder: "f" } });
    for (let turn = 0; turn < 3; turn++) {
      cluster.settle(spec, { rounds: 3 });
      cluster.assignAddress();
      cluster.rollOut();
      cluster.restored = false;
      cluster.live.delete("Deployment/kube-apiserver");
    }
    const observed = { ...cluster.observe(spec), restored: false };
    expect(plan(observed, now).status.problem).toMatchObject({ code: "CONTROL_PLANE_RESTORING" });
    const waiting = { reason: "ErrImagePull", message: "none" };
    const pod = {
      metadata: { name: "p" },
      spec: { containers: [] },
      status: { containerStatuses: [{ state: { waiting } }] },
    };
    const pods = [...observed.pods, pod as unknown as Pod];
    expect(plan({ ...observed, pods }, now).status.problem).toMatchObject({ code: "CONTROL_PLANE_IMAGE_MISSING" });
  });

  const ever = "certificates to be issued again, and changes of the cloud's configuration";
  test.for<[title: string, (cluster: PlayedCluster) => Partial<Observed>, ControlPlaneSpec, until: number]>([
    ["a day at most", () => ({}), specOf(), now + DAY],
    [
      "the first certificate that is due",
      ({ live }) => {
        const secret = live.get("Secret/kube-scheduler") as KubeObject;
        const annotations = { ...secret.metadata.annotations, [renewAtAnnotation]: String(now + 60_000) };
        return {
          live: new Map([
            ...live,
            ["Secret/kube-scheduler", { ...secret, metadata: { ...secret.metadata, annotations } }],
          ]),
        };
      },
      specOf(),
      now + 60_000,
    ],
    [
      "a time that can be read",
      ({ live }) => {
        const metadata = (at: string) => ({ name: at, annotations: { [renewAtAnnotation]: at } });
        const odd = ["", "0", "-5", "soon"].map((at): [string, KubeObject] => [
          `Other/${at}`,
          { apiVersion: "v1", kind: "Other", metadata: metadata(at) },
        ]);
        return { live: new Map([...live, ...odd]) };
      },
      specOf(),
      now + DAY,
    ],
  ])("is for %s, when it is complete", ([, change, spec, until]) => {
    const cluster = completed(spec);
    const { steps, wait } = seen(cluster, change(cluster), spec);
    expect([steps, wait]).toEqual([[], { for: ever, until }]);
  });

  test("is for the cloud's configuration, which is read again every five minutes", () => {
    const spec = specOf({ pods: own({ cloudConfigSecret: "cloud" }) });
    const cluster = new PlayedCluster();
    cluster.cloudConfig = "x";
    cluster.complete(spec);
    expect(seen(cluster, {}, spec).wait?.until).toBe(now + 300_000);
  });
});

describe("the shared etcd that a control plane waits for", () => {
  const created = () => {
    const cluster = new PlayedCluster();
    cluster.complete(pooled());
    return cluster;
  };
  const full = { code: "PODS_POOL_FULL", message: "it is full", actor: "operator" } as const;
  const { access: _access, ...unreachable } = poolOf();
  const { authority: _authority, ...bare } = poolOf();
  test.for<[title: string, PoolState | undefined, code: string, message: string]>([
    ["is not known", undefined, "CONTROL_PLANE_STARTING", "waiting for the etcd that control planes share"],
    ["has no quorum", unreachable, "CONTROL_PLANE_STARTING", "waiting for the etcd that control planes share"],
    ["is not ready", { ...poolOf(), ready: false }, "CONTROL_PLANE_STARTING", "waiting for the etcd that"],
    ["has a problem", { ...bare, ready: false, problem: full }, "PODS_POOL_FULL", "it is full"],
  ])("%s", ([, pool, code, message]) => {
    const { status, steps } = seen(created(), { pool }, pooled());
    expect(status.problem?.code).toBe(code);
    expect(status.message).toContain(message);
    expect(steps.filter(({ type }) => type === "issue" || type === "ensure-etcd-user")).toEqual([]);
    expect(status.endpoint).toEqual({ host: "203.0.113.7", port: 6443 });
  });

  test("has no quorum, and certificates are issued all the same: its authority is known", () => {
    const cluster = completed(pooled());
    cluster.live.delete("Secret/kube-scheduler");
    const { steps } = seen(cluster, { pool: unreachable }, pooled());
    expect(steps.map((step) => ("id" in step ? step.id : step.type))).toEqual(["Secret/kube-scheduler"]);
  });

  test("is that of another management cluster, where that one began with it", () => {
    const cluster = completed(pooled());
    const policy = (poolNamespace: string | undefined) => {
      const { steps } = seen(cluster, poolNamespace === undefined ? {} : { poolNamespace }, pooled());
      return steps.map((step) => JSON.stringify("object" in step ? step.object : step));
    };
    expect(policy(undefined)).toEqual([]);
    const [namespace] = policy("hcp-etcd-theirs");
    expect(namespace).toContain('"controlplane.causeway.dev/pool":"hcp-etcd-theirs"');
    for (const step of seen(cluster, { poolNamespace: "hcp-etcd-theirs" }, pooled()).steps) cluster.perform(step, now);
    const written = policy("hcp-etcd-theirs");
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(/"NetworkPolicy".*"kubernetes.io\/metadata.name":"hcp-etcd-theirs"/);
  });

  test("has a user made for it with its prefix, which may only read while it is sealed", () => {
    const cluster = completed(pooled());
    const { namespaceName } = cluster.observe(pooled());
    const userWith = (storage: PoolState["storage"]) => {
      const pool = { ...poolOf(), ...(storage ? { storage } : {}) };
      const { steps } = seen(cluster, { pool, hasEtcdUser: false }, pooled());
      expect(steps.map(({ type }) => type)).toEqual(["ensure-etcd-user"]);
      return steps[0];
    };
    const user = { name: namespaceName, prefix: `/${namespaceName}/` };
    const step = { type: "ensure-etcd-user", access: poolOf().access };
    expect(userWith(undefined)).toEqual({ ...step, user: { ...user, sealed: false } });
    const record = { bytes: 1, budget: 2, at: now };
    expect(userWith({ [namespaceName]: { ...record, stage: "Sealed" } })).toEqual({
      ...step,
      user: { ...user, sealed: true },
    });
    expect(userWith({ [namespaceName]: { ...record, stage: "Exceeded" } })).toEqual({
      ...step,
      user: { ...user, sealed: false },
    });
    expect(userWith({ other: { ...record, stage: "Sealed" } })).toEqual({ ...step, user: { ...user, sealed: false } });
  });

  test("bounds what it stores, and says how much that is", () => {
    const cluster = completed(pooled());
    const { namespaceName } = cluster.observe(pooled());
    const budget = 1_000;
    const state = (record: Partial<NonNullable<PoolState["storage"]>[string]> | undefined, spec = pooled()) => {
      const full = { bytes: 10, budget, stage: "Within", at: now, ...record } as const;
      const pool = { ...poolOf(), ...(record ? { storage: { [namespaceName]: full } } : {}) };
      const { limits, storage } = seen(cluster, { pool }, spec).status;
      return [limits.bytes, storage];
    };
    const small = 128 * 2 ** 20;
    expect(state(undefined)).toEqual([small, undefined]);
    expect(state({})).toEqual([small, { bytes: 10, budget, stage: "Within" }]);
    expect(state({ stage: "Exceeded", opensAt: now })).toEqual([small, { bytes: 10, budget, stage: "Exceeded" }]);
    const opens = { stage: "Sealed", opensAt: now + 1 } as const;
    expect(state({ ...opens, bytes: 1_500 })).toEqual([small, { bytes: 1_500, budget, ...opens }]);
    // With more than that it is not opened by itself.
    expect(state({ ...opens, bytes: 1_501 })).toEqual([small, { bytes: 1_501, budget, stage: "Sealed" }]);
    expect(state({ stage: "Sealed" })).toEqual([small, { bytes: 10, budget, stage: "Sealed" }]);
    expect(state({ ...opens, lacksSpace: true })).toEqual([
      small,
      { bytes: 10, budget, stage: "Sealed", lacksSpace: true },
    ]);
    expect(state({}, pooled({ storageBudget: 5 }))[0]).toBe(5);
    expect(seen(completed(), { pool: poolOf() }).status.limits).toEqual(specOf().limits);
  });
});

describe("the namespace of a control plane as pods", () => {
  const noted = (spec: ControlPlaneSpec, changes: Partial<Observed> = {}, cluster = new PlayedCluster()) => {
    const [step] = seen(cluster, { namespace: undefined, ...changes }, spec).steps;
    return step?.type === "apply-namespace" ? step.object.metadata.annotations : undefined;
  };

  test("notes which etcd has the data, and what was granted", () => {
    const large = specOf({ pods: own({ size: "Large" }), replicas: 3 });
    expect(noted(large)).toMatchObject({ [datastoreAnnotation]: "Own", [grantedAnnotation]: "Large/3" });
    for (const absent of [migratingAnnotation, poolAnnotation, budgetAnnotation, joinedAnnotation, restoredAnnotation])
      expect(noted(large)).not.toHaveProperty([absent]);
    const shared = noted(pooled({ storageBudget: 77 }), { poolNamespace: "hcp-etcd-theirs" });
    expect(shared).toMatchObject({
      [datastoreAnnotation]: "Pooled",
      [budgetAnnotation]: "77",
      [poolAnnotation]: "hcp-etcd-theirs",
    });
  });

  test("notes where machines join, also what a process before this one noted, and that its data was restored", () => {
    const cluster = completed();
    const url = "https://203.0.113.7:6443";
    expect(cluster.namespace?.metadata.annotations).toMatchObject({ [joinedAnnotation]: url });
    expect(seen(cluster, { joinedAt: url }).steps).toEqual([]);
    const { namespace } = cluster;
    const kept = seen(cluster, { joinedAt: undefined });
    expect(kept.steps.map(({ type }) => type)).toEqual(["create-join-objects"]);
    expect(kept.status.ready).toBe(true);
    const restore = { folder: "f" };
    expect(noted(specOf({ restore }), { namespace: undefined })).not.toHaveProperty([restoredAnnotation]);
    expect(noted(specOf({ restore }), { namespace: undefined, restored: true })).toMatchObject({
      [restoredAnnotation]: "true",
    });
    expect(namespace?.metadata.annotations).not.toHaveProperty([restoredAnnotation]);
  });
});

describe("the objects that machines need to join", () => {
  test("are made once at each endpoint and with each set of roots", () => {
    const rotation = { trusted: ["NEW"], serving: specOf().authority, accountKeys: [] };
    const url = "https://a:1";
    expect(joinMark(specOf(), url)).toBe(url);
    const marks = [rotation, { ...rotation, trusted: ["OTHER"] }].map((each) =>
      joinMark(specOf({ rotation: each }), url),
    );
    for (const mark of marks) expect(mark).toMatch(/^https:\/\/a:1#[0-9a-f]{32}$/);
    expect(new Set(marks).size).toBe(2);
  });

  test("are made through our own pods and Service, whatever endpoint a tenant names", () => {
    const cluster = completed();
    const step = (clusterIP: string | undefined, podIP = "10.1.0.1") => {
      withService(cluster, ({ spec }) => ({ spec: { ...spec, clusterIP } }));
      const pods = cluster.pods.map((pod) => ({ ...pod, status: { ...pod.status, podIP } }));
      return seen(cluster, { joinedAt: undefined, pods }).steps[0];
    };
    const made = { type: "create-join-objects", server: "https://203.0.113.7:6443", mark: "https://203.0.113.7:6443" };
    const pods = ["https://10.1.0.1:6443", "https://10.1.0.1:6443"];
    expect(step("10.96.0.7")).toEqual({ ...made, addresses: [...pods, "https://10.96.0.7:6443"] });
    for (const none of ["None", undefined]) expect(step(none)).toEqual({ ...made, addresses: pods });
    const six = ["https://[2001:db8::1]:6443", "https://[2001:db8::1]:6443", "https://[2001:db8::7]:6443"];
    expect(step("2001:db8::7", "2001:db8::1")).toEqual({ ...made, addresses: six });
  });
});

describe("a control plane as pods", () => {
  /** One whose machines can join at this URL. */
  const joined = (at: string | undefined): PlayedCluster => {
    const cluster = completed();
    const { [joinedAnnotation]: _joined, ...annotations } = cluster.namespace?.metadata.annotations ?? {};
    cluster.namespace = { ...cluster.namespace, metadata: { name: "x", annotations } } as Namespace;
    cluster.joinedAt = at;
    for (const step of seen(cluster).steps) if (step.type === "apply-namespace") cluster.perform(step, now);
    return cluster;
  };

  test.for([
    ["https://203.0.113.7:6443", true],
    ["https://203.0.113.7:6443#roots", true],
    ["https://10.0.0.1:6443", false],
    ["https://203.0.113.7:64431", false],
    [undefined, false],
  ] as const)("serves where machines can join: what they need was made at %s", ([at, ready]) => {
    expect(seen(joined(at)).status).toMatchObject({ ready, runtime: "Pods" });
  });

  test("that is refused remains available, also before a new process checked it", () => {
    const spec = specOf({ version: "v1.12.0", initialized: true });
    const cluster = joined(undefined);
    expect([seen(completed(), {}, spec).status.ready, seen(cluster, {}, spec).status.ready]).toEqual([true, true]);
    cluster.live.delete("Deployment/kube-apiserver");
    expect(seen(cluster, {}, spec).status.ready).toBe(false);
  });

  test("reports the clocks of nodes where something is known of them", () => {
    const clocks = [{ node: "n", minutes: 5 }];
    expect(seen(completed(), { clocks }).status.clocks).toEqual(clocks);
    expect(seen(completed()).status).not.toHaveProperty("clocks");
  });

  test("has the gateway's address only behind the gateway", () => {
    const gateway = { domain: "d.test", port: 443, nodeAddress: "198.18.0.1", namespace: "g", address: "203.0.113.9" };
    expect(completed(specOf(), { gateway }).settle(specOf()).status).not.toHaveProperty("address");
  });
});

describe("an object that is not wanted", () => {
  const unwanted = (metadata: object): KubeObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "unwanted", ...metadata },
  });
  test.for<[title: string, metadata: object, isDeleted: boolean]>([
    ["that we applied", { annotations: { [appliedAnnotation]: "x" } }, true],
    ["that we issued", { annotations: { [inputsAnnotation]: "x" } }, true],
    ["of another", { annotations: { other: "x" } }, false],
    ["without annotations", {}, false],
    [
      "that is being deleted",
      { annotations: { [appliedAnnotation]: "x" }, deletionTimestamp: "2026-01-01T00:00:00Z" },
      false,
    ],
    [
      "of one of our programs",
      { annotations: { [appliedAnnotation]: "x" }, labels: { [componentLabel]: "etcd" } },
      true,
    ],
  ])("%s", ([, metadata, isDeleted]) => {
    const cluster = completed();
    const object = unwanted(metadata);
    const live = new Map([...cluster.live, ["ConfigMap/unwanted", object]]);
    expect(seen(cluster, { live }).steps).toEqual(
      isDeleted ? [{ type: "delete", id: "ConfigMap/unwanted", object }] : [],
    );
  });
});
