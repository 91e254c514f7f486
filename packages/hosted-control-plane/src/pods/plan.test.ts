import type { Deployment, KubeObject, Service, StatefulSet } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { ControlPlaneSpec } from "../runtime.ts";
import { plan } from "./plan.ts";
import { componentLabel } from "./tenant.ts";
import { now, PlayedCluster, SECRET } from "./testing/played-cluster.ts";
import { own, poolOf, specOf } from "./testing/spec.ts";
import { workload } from "./rollout.ts";

const etcd = "StatefulSet/etcd";
const api = "Deployment/kube-apiserver";
const manager = "Deployment/kube-controller-manager";
const scheduler = "Deployment/kube-scheduler";

const imageOf = (cluster: PlayedCluster, id: string) =>
  workload(cluster.live.get(id))?.spec.template.spec.containers[0]?.image?.split("/")[1];
const replicasOf = (cluster: PlayedCluster, id: string) => workload(cluster.live.get(id))?.spec.replicas;
const commandOf = (cluster: PlayedCluster, id: string) =>
  workload(cluster.live.get(id))?.spec.template.spec.containers[0]?.command ?? [];

describe("a new control plane as pods", () => {
  test("is created in order: namespace, keys, Service, certificates, etcd, API servers, controllers", () => {
    const cluster = new PlayedCluster();
    cluster.settle(specOf());
    expect(cluster.performed).toEqual([
      "apply-namespace",
      "issue Secret/etcd-ca-copy",
      "issue Secret/encryption-copy",
      "copy Secret/etcd-ca",
      "copy Secret/encryption",
      "apply-namespace",
      "apply Service/kube-apiserver",
      ...["default-deny", "kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler"].map(
        (name) => `apply NetworkPolicy/${name}`,
      ),
    ]);
    cluster.assignAddress();
    cluster.performed.splice(0);
    cluster.settle(specOf());
    expect(cluster.performed).toEqual([
      ...["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"].map((name) => `issue Secret/${name}`),
      "apply Service/etcd",
      "apply StatefulSet/etcd",
      "apply PodDisruptionBudget/etcd",
    ]);
    cluster.performed.splice(0);
    cluster.rollOut();
    cluster.settle(specOf());
    expect(cluster.performed).toEqual([
      "apply ConfigMap/kube-apiserver",
      "apply Deployment/kube-apiserver",
      "apply PodDisruptionBudget/kube-apiserver",
    ]);
    cluster.performed.splice(0);
    cluster.rollOut();
    const planned = cluster.settle(specOf());
    expect(cluster.performed).toEqual([
      `apply ${manager}`,
      `apply ${scheduler}`,
      "create-join-objects",
      "apply-namespace",
    ]);
    expect(planned.status).toMatchObject({ ready: true, starting: true });
    cluster.rollOut();
    const done = cluster.settle(specOf()).status;
    expect(done).toMatchObject({
      ready: true,
      version: "v1.33.2",
      endpoint: { host: "203.0.113.7", port: 6443 },
      replicas: { total: 2, ready: 2, updated: 2 },
    });
    expect(done.problem).toBeUndefined();
  });

  test("is left alone once it is complete", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    cluster.performed.splice(0);
    cluster.settle(specOf(), { at: now + 24 * 3600_000 });
    expect(cluster.performed).toEqual([]);
  });

  test.each<[string, Partial<ControlPlaneSpec>, { host: string; port: number }]>([
    ["a load balancer", {}, { host: "203.0.113.7", port: 6443 }],
    ["a load balancer at a port", { endpoint: { host: "", port: 443 } }, { host: "203.0.113.7", port: 443 }],
    [
      "a load balancer behind another address",
      { endpoint: { host: "198.51.100.1", port: 6443 } },
      { host: "198.51.100.1", port: 6443 },
    ],
    [
      "a node port",
      { pods: own({ exposure: "NodePort" }), endpoint: { host: "10.6.0.1", port: 0 } },
      { host: "10.6.0.1", port: 31_000 },
    ],
  ])("is reached by %s, and its API servers listen at the port of the endpoint", (_, changes, endpoint) => {
    const cluster = new PlayedCluster();
    const { status } = cluster.complete(specOf(changes));
    expect(status).toMatchObject({ ready: true, endpoint });
    expect(commandOf(cluster, api)).toContain(`--secure-port=${endpoint.port}`);
    expect(commandOf(cluster, api)).toContain(`--advertise-address=${endpoint.host}`);
    const service = cluster.live.get("Service/kube-apiserver") as Service;
    expect(service.spec.ports?.map(({ port }) => port)).toContain(6443);
  });
});

test("an access list is the load balancer's, and a change of it restarts nothing", () => {
  const cluster = new PlayedCluster();
  cluster.complete(specOf({ allowedCidrs: ["192.0.2.0/24"] }));
  const ranges = () => (cluster.live.get("Service/kube-apiserver") as Service).spec.loadBalancerSourceRanges;
  expect(ranges()).toEqual(["192.0.2.0/24"]);
  cluster.performed.splice(0);
  cluster.settle(specOf({ allowedCidrs: ["192.0.2.0/24", "198.51.100.7/32"] }));
  expect(cluster.performed).toEqual(["apply Service/kube-apiserver"]);
  expect(ranges()).toEqual(["192.0.2.0/24", "198.51.100.7/32"]);
  cluster.settle(specOf());
  expect(ranges()).toBeUndefined();
});

test("flags of a tenant are on the command lines, and take the place of ours", () => {
  const cluster = new PlayedCluster();
  cluster.complete(specOf());
  const before = [commandOf(cluster, api), commandOf(cluster, manager), commandOf(cluster, scheduler)];
  const flags = {
    apiServer: { enableAdmissionPlugins: ["AlwaysPullImages"], eventTTLSeconds: 600 },
    controllerManager: { nodeMonitorGracePeriodSeconds: 30 },
  };
  cluster.complete(specOf({ flags }));
  const plugins = "--enable-admission-plugins=NodeRestriction";
  expect(commandOf(cluster, api)).toEqual([
    ...(before[0] ?? []).filter((each) => each !== plugins),
    `${plugins},AlwaysPullImages`,
    "--event-ttl=600s",
  ]);
  expect(commandOf(cluster, manager)).toEqual([...(before[1] ?? []), "--node-monitor-grace-period=30s"]);
  expect(commandOf(cluster, scheduler)).toEqual(before[2]);
});

test("a restarted program reports a control plane that serves as available, and creates what machines need at its own addresses", () => {
  const cluster = new PlayedCluster();
  const spec = specOf({ endpoint: { host: "198.51.100.1", port: 22 } });
  cluster.complete(spec);
  cluster.joinedAt = undefined;
  const { status, steps } = plan(cluster.observe(spec), now);
  expect(status).toMatchObject({ ready: true });
  // The endpoint is an address that a tenant names: it is not connected to.
  expect(steps).toEqual([
    {
      type: "create-join-objects",
      mark: "https://198.51.100.1:22",
      server: "https://198.51.100.1:22",
      addresses: ["https://10.1.0.1:22", "https://10.1.0.2:22"],
    },
  ]);
});

describe("an upgrade of a control plane as pods", () => {
  test("goes through etcd, the API servers and the controllers, each after the one before has rolled out", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    const upgraded = specOf({ version: "v1.34.1" });
    const images = () => [etcd, api, manager, scheduler].map((id) => imageOf(cluster, id));
    const old = [
      "etcd:3.5.21-0",
      "kube-apiserver:v1.33.2",
      "kube-controller-manager:v1.33.2",
      "kube-scheduler:v1.33.2",
    ];
    const wanted = [
      "etcd:3.6.4-0",
      "kube-apiserver:v1.34.1",
      "kube-controller-manager:v1.34.1",
      "kube-scheduler:v1.34.1",
    ];
    expect(images()).toEqual(old);
    for (const stage of [1, 2]) {
      cluster.settle(upgraded);
      expect(images()).toEqual([...wanted.slice(0, stage), ...old.slice(stage)]);
      expect(cluster.settle(upgraded).status).toMatchObject({ ready: true, starting: true, version: "v1.33.2" });
      cluster.rollOut("etcd", ...(stage === 2 ? ["kube-apiserver"] : []));
    }
    cluster.settle(upgraded);
    expect(images()).toEqual(wanted);
    expect(cluster.complete(upgraded).status).toMatchObject({ ready: true, version: "v1.34.1" });
  });

  test("of a patch version writes the three programs and nothing else", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    cluster.performed.splice(0);
    cluster.complete(specOf({ version: "v1.33.3" }));
    // The template of etcd names the version.
    expect(cluster.performed).toEqual([etcd, api, manager, scheduler].map((id) => `apply ${id}`));
  });

  test("from a version that is not in the table any more deletes nothing while etcd rolls out", () => {
    const before = new PlayedCluster({ versions: { "v1.31": { etcd: "3.5.15-0" } } });
    before.complete(specOf({ version: "v1.31.4" }));
    const cluster = new PlayedCluster();
    for (const [id, object] of before.live) cluster.live.set(id, object);
    const { namespace, pods, joinedAt } = before;
    Object.assign(cluster, { namespace, pods, joinedAt });
    const upgraded = specOf({ version: "v1.32.1" });
    cluster.settle(upgraded);
    expect([etcd, api, manager, scheduler].map((id) => imageOf(cluster, id))).toEqual([
      "etcd:3.5.16-0",
      "kube-apiserver:v1.31.4",
      "kube-controller-manager:v1.31.4",
      "kube-scheduler:v1.31.4",
    ]);
    expect(cluster.complete(upgraded).status).toMatchObject({ ready: true, version: "v1.32.1" });
  });

  test("whose image is missing keeps the old API servers and says who must act", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    const upgraded = specOf({ version: "v1.34.1" });
    cluster.settle(upgraded);
    cluster.rollOut("etcd");
    cluster.settle(upgraded);
    const waiting = { reason: "ImagePullBackOff", message: "manifest unknown" };
    cluster.pods.push({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace: "n", name: "new", labels: { [componentLabel]: "kube-apiserver" } },
      spec: { containers: [] },
      status: { containerStatuses: [{ name: "kube-apiserver", state: { waiting } }] },
    });
    const { status } = cluster.settle(upgraded);
    expect(status).toMatchObject({
      ready: true,
      version: "v1.33.2",
      problem: { code: "CONTROL_PLANE_IMAGE_MISSING", actor: "operator" },
    });
    expect(imageOf(cluster, manager)).toBe("kube-controller-manager:v1.33.2");
  });
});

describe("a control plane as pods hibernates", () => {
  test("with its controllers and API servers first, etcd last, and all data kept; it wakes in the other order", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    const asleep = specOf({ replicas: 0 });
    const counts = () => [etcd, api, manager, scheduler].map((id) => replicasOf(cluster, id));
    cluster.settle(asleep);
    expect(counts()).toEqual([1, 0, 0, 0]);
    cluster.rollOut();
    cluster.settle(asleep);
    expect(counts()).toEqual([0, 0, 0, 0]);
    const planned = cluster.complete(asleep);
    expect(planned.status).toMatchObject({ ready: false });
    expect(planned.status.problem).toBeUndefined();
    const { persistentVolumeClaimRetentionPolicy } = (cluster.live.get(etcd) as StatefulSet).spec;
    expect(persistentVolumeClaimRetentionPolicy?.whenScaled).toBe("Retain");
    cluster.settle(specOf());
    expect(counts()).toEqual([1, 0, 0, 0]);
    cluster.rollOut("etcd");
    cluster.settle(specOf());
    expect(counts()).toEqual([1, 2, 0, 0]);
    expect(cluster.complete(specOf()).status).toMatchObject({ ready: true });
  });
});

describe("certificates of a control plane as pods", () => {
  test("are issued again at half their life, and the programs restart with them, in order", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    cluster.performed.splice(0);
    const later = now + 190 * 24 * 3600_000;
    cluster.complete(specOf(), later);
    const programs = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
    expect(cluster.performed).toEqual([
      ...programs.map((name) => `issue Secret/${name}`),
      ...[etcd, api, manager, scheduler].map((id) => `apply ${id}`),
    ]);
  });

  test("are issued again for another name, and for another root", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    cluster.performed.splice(0);
    cluster.complete(specOf({ names: ["api.example.org"] }));
    expect(cluster.performed).toEqual(["issue Secret/kube-apiserver", `apply ${api}`]);
    cluster.performed.splice(0);
    cluster.complete(specOf({ authority: { certificate: "ANOTHER", key: SECRET } }));
    expect(cluster.performed.filter((step) => step.startsWith("issue"))).toEqual([
      "issue Secret/kube-apiserver",
      "issue Secret/kube-controller-manager",
      "issue Secret/kube-scheduler",
    ]);
  });
});

describe("an object that differs in the service cluster", () => {
  const drift: [string, (cluster: PlayedCluster) => void, string[]][] = [
    ["a deleted Deployment", (cluster) => void cluster.live.delete(api), [`apply ${api}`]],
    [
      "another image",
      ({ live }) => {
        const object = structuredClone(live.get(manager)) as Deployment;
        for (const container of object.spec.template.spec.containers) container.image = "evil";
        live.set(manager, object);
      },
      [`apply ${manager}`],
    ],
    [
      "a deleted policy",
      (cluster) => void cluster.live.delete("NetworkPolicy/default-deny"),
      ["apply NetworkPolicy/default-deny"],
    ],
    [
      "a deleted certificate",
      (cluster) => void cluster.live.delete("Secret/kube-scheduler"),
      ["issue Secret/kube-scheduler"],
    ],
    ["the lost authority of etcd", (cluster) => void cluster.live.delete("Secret/etcd-ca"), ["copy Secret/etcd-ca"]],
    [
      "the lost copy of the key of Secrets",
      (cluster) => void cluster.live.delete("Secret/encryption-copy"),
      ["copy Secret/encryption-copy"],
    ],
    [
      "what we applied and is not wanted any more",
      ({ live }) => {
        const old = live.get("NetworkPolicy/etcd") as KubeObject;
        live.set("NetworkPolicy/old", { ...old, metadata: { ...old.metadata, name: "old" } });
      },
      ["delete NetworkPolicy/old"],
    ],
    [
      "what another one made",
      ({ live }) => live.set("ConfigMap/other", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other" } }),
      [],
    ],
  ];
  test.each(drift)("is repaired: %s", (_, change, steps) => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    cluster.performed.splice(0);
    change(cluster);
    cluster.complete(specOf());
    const repaired = cluster.performed.filter((step) => !step.startsWith("apply Deployment/kube-scheduler"));
    expect(repaired).toEqual(steps);
  });
});

describe("a control plane in the shared etcd", () => {
  const pooled = specOf({ pods: {} });

  test("waits for it, has a user there before its API servers start, and keys below its own prefix", () => {
    const cluster = new PlayedCluster();
    cluster.complete(pooled);
    expect(cluster.settle(pooled).status.problem).toMatchObject({ code: "CONTROL_PLANE_STARTING", actor: "none" });
    expect([...cluster.live.keys()].filter((id) => id.startsWith("Deployment/") || id === etcd)).toEqual([]);
    cluster.pool = poolOf();
    cluster.performed.splice(0);
    expect(cluster.complete(pooled).status).toMatchObject({ ready: true });
    const order = ["issue Secret/kube-apiserver", "ensure-etcd-user", `apply ${api}`];
    expect(cluster.performed.filter((step) => order.includes(step))).toEqual(order);
    expect(cluster.live.has(etcd) || cluster.live.has("Secret/etcd")).toBe(false);
    const prefix = commandOf(cluster, api).find((flag) => flag.startsWith("--etcd-prefix="));
    expect(prefix).toMatch(/^--etcd-prefix=\/hcp-web-[0-9a-f]{10}\/registry$/);
    expect(commandOf(cluster, api)).toContain("--etcd-compaction-interval=0");
  });

  test.each([
    ["v1.32.3", true, ["--feature-gates=WatchList=false"]],
    ["v1.33.3", true, []],
    ["v1.34.1", true, ["--feature-gates=WatchList=false,ListFromCacheSnapshot=false"]],
    ["v1.34.1", false, []],
  ])(
    "%s, shared %s: watches and lists rely on nothing that etcd does not report to its user: %j",
    (version, shared, gates) => {
      const cluster = new PlayedCluster();
      cluster.pool = poolOf();
      cluster.complete(specOf({ version, ...(shared && { pods: {} }) }));
      const flags = commandOf(cluster, api);
      expect(flags.some((flag) => flag.startsWith("--etcd-servers="))).toBe(true);
      expect(flags.filter((flag) => flag.startsWith("--feature-gates"))).toEqual(gates);
    },
  );

  test("that appears changes nothing of a control plane with an etcd of its own", () => {
    const cluster = new PlayedCluster();
    cluster.complete(specOf());
    cluster.performed.splice(0);
    cluster.pool = { ...poolOf(), authority: { certificate: "OF THE POOL", key: SECRET } };
    cluster.complete(specOf());
    expect(cluster.performed).toEqual([]);
  });

  test.each<[string, Partial<ReturnType<typeof poolOf>> | undefined]>([
    ["that has no quorum", { ready: false, access: undefined as never }],
    ["that is not known yet", undefined],
  ])("%s keeps what runs, with its certificates", (_, change) => {
    const cluster = new PlayedCluster();
    cluster.pool = poolOf();
    cluster.complete(pooled);
    cluster.performed.splice(0);
    cluster.pool = change && { ...poolOf(), ...change };
    expect(cluster.settle(pooled).status).toMatchObject({ ready: true });
    expect(cluster.performed).toEqual([]);
  });
});
