/**
 * Control planes as pods on real nodes: containerd and kubelets on servers of a real OpenStack run the images, volumes
 * are Cinder's, and the operator runs there from the manifests in deploy/. The service cluster's own control plane is
 * Kubernetes' programs.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inventory } from "../support/inventory.ts";
import { eventually, kubectl } from "../support/processes.ts";
import { componentOf, isReady, startServiceRig, type PodView, type ServiceRig } from "./service-cluster/rig.ts";
import { startWrites, type Writes, type Written } from "./service-cluster/writes.ts";

const TIMEOUT = 15 * 60_000;
const VERSION = process.env["CAUSEWAY_NODE_VERSION"] ?? "";
const PREVIOUS = process.env["CAUSEWAY_NODE_PREVIOUS"];

describe.skipIf(PREVIOUS === undefined)("control planes as pods of real nodes", () => {
  let rig: ServiceRig;
  let namespace = "";
  let pool = "";
  let kubeconfig = "";
  const seconds: string[] = [];

  beforeAll(async () => {
    rig = await startServiceRig();
  });

  afterAll(async () => {
    console.log(seconds.join("\n"));
    await rig?.close();
  });

  /** Says how long what follows took. */
  function since(begin: number, what: string): void {
    const line = `${what}: ${((performance.now() - begin) / 1000).toFixed(1)} s`;
    console.log(line);
    seconds.push(line);
  }

  /** Waits; on failure says what is in the service cluster. */
  async function until<T>(what: string, attempt: () => T | undefined | false): Promise<T> {
    try {
      return await eventually(TIMEOUT, attempt);
    } catch (cause) {
      const said = spawnSync("sh", [
        "-c",
        'k="kubectl --kubeconfig $1"; $k get hostedcontrolplanes -A -o yaml | tail -n 60; $k get pods,pvc -A -o wide; $k get events -A | tail -n 40; $k logs -n causeway-system deployment/hosted-control-plane --tail 30',
        "sh",
        rig.kubeconfig,
      ]);
      throw new Error(`${what}:\n${said.stdout.toString()}\n${said.stderr.toString()}`, { cause });
    }
  }

  const plane = (name: string) => rig.find<PlaneView>("hostedcontrolplane", name, "-n", "default");
  const condition = (name: string, type: string) => plane(name)?.status?.conditions?.find((one) => one.type === type);
  const isSettled = (name: string): boolean =>
    condition(name, "Available")?.status === "True" && condition(name, "UpToDate")?.status === "True";
  const tenant = (...args: readonly string[]) => kubectl(kubeconfig, ...args);

  function create(name: string, spec: object): void {
    const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name };
    const metadata = { namespace: "default", name };
    rig.apply({ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata, spec: { controlPlaneRef } });
    const uid = rig.workload("get", "clusters.cluster.x-k8s.io", name, "-o", "jsonpath={.metadata.uid}");
    const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name, uid, controller: true };
    rig.apply({
      apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
      kind: "HostedControlPlane",
      metadata: { ...metadata, labels: { "cluster.x-k8s.io/cluster-name": name }, ownerReferences: [owner] },
      spec: { runtime: "Pods", ...spec },
    });
  }

  const patch = (name: string, spec: object) =>
    void rig.workload("patch", "hostedcontrolplane", name, "--type=merge", "-p", JSON.stringify({ spec }));

  const readyz = () => spawnSync("kubectl", ["--kubeconfig", kubeconfig, "get", "--raw", "/readyz"]).status === 0;
  const readyOf = (of: string, component: string) =>
    rig.pods(of).filter((pod) => componentOf(pod) === component && isReady(pod));
  /** So many API servers and members of the shared etcd are ready, and no pod of theirs is not. */
  const whole = (servers: number, members: number): boolean =>
    readyOf(namespace, "kube-apiserver").length === servers &&
    readyOf(pool, "etcd").length === members &&
    [...rig.pods(namespace), ...rig.pods(pool)].every(isReady);
  /** One of them that is not on the node by which clients come in. */
  const elsewhere = (pods: readonly PodView[]) => pods.find(({ spec }) => spec.nodeName !== rig.entrance.node);
  const volumesOf = (of: string) =>
    (rig.find<VolumeList>("persistentvolumes")?.items ?? []).filter(({ spec }) => spec.claimRef?.namespace === of);

  /** The leader of the shared etcd, on a node by which no client comes in: one at the entrance is killed until then. */
  const leaderElsewhere = (): Promise<PodView> =>
    until("a leader on another node", () => {
      const found = rig.leader(pool);
      // Without all three, a quorum would not survive the loss of the node.
      if (!whole(2, 3)) return undefined;
      if (elsewhere([found])) return found;
      rig.kill(pool, found);
      return undefined;
    });

  /** Each client writes ten times more. */
  async function more(writes: Writes): Promise<void> {
    const until10 = writes.fewest() + 10;
    await until("writes that continue", () => writes.fewest() >= until10);
  }

  /** Writes before, during and after `act`: all that was acknowledged is stored. */
  async function during(round: string, act: (writes: Writes) => Promise<void>): Promise<Written> {
    const writes = startWrites(kubeconfig, round);
    await more(writes);
    try {
      await act(writes);
      await more(writes);
    } finally {
      // Clients that are not ended would write for ever.
      void writes.end();
    }
    const written = await writes.end();
    const { acknowledged, failures, longest, longestOfOne } = written;
    const counts = `${acknowledged.length} writes were acknowledged and ${failures.length} attempts failed`;
    const line = `${round}: ${counts}; the longest pause of all was ${longest} ms, of one client ${longestOfOne} ms`;
    console.log([line, ...failures.slice(0, 20)].join("\n"));
    seconds.push(line);
    const stored = new Set(tenant("get", "configmaps", "-o", "name").split("\n"));
    expect(acknowledged.filter((one) => !stored.has(`configmap/${one}`))).toEqual([]);
    return written;
  }

  test("the operator of deploy/ rolls out with the image made here", async () => {
    const status = ["rollout", "status", "deployment/hosted-control-plane", "-n", "causeway-system", "--timeout=10s"];
    await until("the operator", () => rig.kubectl(status).status === 0);
  });

  test("a control plane becomes ready: its API responds at a node port", async () => {
    const begin = performance.now();
    const endpoint = { host: rig.entrance.address };
    create("one", { version: PREVIOUS, replicas: 2, endpoint, pods: { exposure: "NodePort" } });
    const text = await until("a kubeconfig", () =>
      rig.find<{ readonly data: { readonly value: string } }>("secret", "one-kubeconfig", "-n", "default"),
    );
    kubeconfig = join(rig.dir, "one.kubeconfig");
    writeFileSync(kubeconfig, Buffer.from(text.data.value, "base64"), { mode: 0o600 });
    await until(
      "a ready API",
      () => spawnSync("kubectl", ["--kubeconfig", kubeconfig, "get", "--raw", "/readyz"]).status === 0,
    );
    since(begin, "created to a ready API, with the shared etcd");
    await until("all is rolled out", () => isSettled("one"));
    since(begin, "created to all of it rolled out");
    [namespace, pool] = [rig.namespaceOf("default.one"), rig.namespaceOf("etcd")];
    // A control plane serves with two of three members of the shared etcd.
    await until("every member of the shared etcd", () => whole(2, 3));
    since(begin, "created to every member of the shared etcd ready");
  });

  test("kubectl works on it: the version, its controllers, and an administrator's rights", async () => {
    const { serverVersion } = JSON.parse(tenant("version", "-o", "json")) as { serverVersion: { gitVersion: string } };
    expect(serverVersion.gitVersion).toBe(PREVIOUS);
    tenant("create", "namespace", "team");
    await until("a ServiceAccount", () => tenant("get", "serviceaccounts", "-n", "team").includes("default"));
    tenant("create", "deployment", "web", "--image=example.org/web:1", "--replicas=2");
    await until(
      "pods that wait for a node",
      () => tenant("get", "pods", "-l", "app=web", "-o", "name").split("\n").length === 3,
    );
    expect(tenant("auth", "can-i", "*", "*")).toBe("yes\n");
  });

  test("its programs are spread over the nodes, and none was started twice", () => {
    const [own, etcd] = [rig.pods(namespace), rig.pods(pool)];
    expect(nodesOf(own, "kube-apiserver").size).toBe(2);
    expect(nodesOf(etcd, "etcd").size).toBe(3);
    for (const pod of [...own, ...etcd]) {
      expect(isReady(pod), pod.metadata.name).toBe(true);
      expect(pod.status.containerStatuses?.[0]?.restartCount, pod.metadata.name).toBe(0);
    }
  });

  test("a drain of a node takes one API server and one member of etcd at a time, under writes", async () => {
    const victim = elsewhere(readyOf(namespace, "kube-apiserver"))?.spec.nodeName ?? "";
    const written = await during("drain", async () => {
      const begin = performance.now();
      const fewest = { servers: 2, members: 3 };
      const flags = ["--ignore-daemonsets", "--delete-emptydir-data", "--timeout=900s"];
      const drain = rig.start("drain", victim, ...flags);
      const ended = { code: undefined as number | null | undefined };
      void drain.ended.then((code) => (ended.code = code));
      await until("the drain", () => {
        fewest.servers = Math.min(fewest.servers, readyOf(namespace, "kube-apiserver").length);
        fewest.members = Math.min(fewest.members, readyOf(pool, "etcd").length);
        return ended.code !== undefined;
      });
      expect(ended.code, drain.output()).toBe(0);
      since(begin, `a drain, with at least ${fewest.servers} API servers and ${fewest.members} members of etcd ready`);
      expect(fewest.servers).toBeGreaterThanOrEqual(1);
      expect(fewest.members).toBeGreaterThanOrEqual(2);
      await until("API servers elsewhere", () => readyOf(namespace, "kube-apiserver").length === 2);
      since(begin, "the drained node's API server is ready on another");
      rig.workload("uncordon", victim);
      await until("all pods again", () => whole(2, 3));
    });
    expect(written.longest).toBeLessThan(10_000);
    // Nothing moves a pod back to an empty node: two members may share one now.
    await until("members on three nodes", () => {
      const members = rig.pods(pool).filter((pod) => componentOf(pod) === "etcd");
      if (nodesOf(members, "etcd").size === 3) return whole(2, 3);
      const shared = members.find((pod) =>
        members.some((other) => other !== pod && other.spec.nodeName === pod.spec.nodeName),
      );
      if (shared && whole(2, 3)) rig.workload("delete", "pod", shared.metadata.name, "-n", pool);
      return false;
    });
  });

  test("etcd's leader is killed, and then an API server: no acknowledged write is lost", async () => {
    const leader = await during("leader", async (writes) => {
      rig.kill(pool, rig.leader(pool));
      await more(writes);
      await until("all pods again", () => whole(2, 3));
    });
    expect(leader.longest).toBeLessThan(10_000);
    const server = await during("server", async (writes) => {
      const [first] = readyOf(namespace, "kube-apiserver");
      if (first === undefined) throw new Error("no API server is ready");
      rig.kill(namespace, first);
      await more(writes);
      await until("all pods again", () => whole(2, 3));
    });
    expect(server.longest).toBeLessThan(10_000);
  });

  test("a node is switched off: writes pause for ten seconds at most", async () => {
    const leader = await leaderElsewhere();
    const id = rig.serverOf(leader);
    const written = await during("off", async (writes) => {
      await rig.cloud.compute.serverActions.stop(id);
      await until("the node is missed", () => !isReady(podNamed(rig.pods(pool), leader.metadata.name) ?? leader));
      await more(writes);
    });
    await rig.cloud.compute.serverActions.start(id);
    await until("all pods again", () => whole(2, 3));
    expect(written.longest).toBeLessThan(10_000);
  });

  test("the node of etcd's leader loses its power, without a packet: no acknowledged write is lost", async () => {
    const leader = await leaderElsewhere();
    const id = rig.serverOf(leader);
    const written = await during("power", async (writes) => {
      const restore = rig.cutPower(id);
      try {
        await until("another leader", () => rig.leader(pool, leader));
        await more(writes);
      } finally {
        await rig.cloud.compute.serverActions.stop(id);
        restore();
      }
      await more(writes);
    });
    await rig.cloud.compute.serverActions.start(id);
    await until("all pods again", () => whole(2, 3));
    expect(written.longest).toBeLessThan(10_000);
  });

  test("an image that cannot be pulled changes nothing for clients, and is named in a condition", async () => {
    const before = readyOf(namespace, "kube-apiserver").map(({ metadata }) => metadata.uid);
    // Lower than the one that follows: what was requested cannot be lowered again.
    const absent = VERSION.replace(/\d+$/, "0");
    const written = await during("image", async (writes) => {
      patch("one", { version: absent });
      await until("a condition", () => /image/i.test(condition("one", "UpToDate")?.message ?? ""));
      await more(writes);
    });
    const found = condition("one", "UpToDate");
    console.log(`${found?.reason}: ${found?.message}`);
    expect(found?.message).toContain(absent);
    expect(condition("one", "Available")?.status).toBe("True");
    expect(readyOf(namespace, "kube-apiserver").map(({ metadata }) => metadata.uid)).toEqual(
      expect.arrayContaining(before),
    );
    expect(written.failures).toEqual([]);
  });

  test("an upgrade by one minor, under writes", async () => {
    const begin = performance.now();
    const written = await during("upgrade", async () => {
      patch("one", { version: VERSION });
      await until("the new version", () => plane("one")?.status?.version === VERSION && isSettled("one"));
      since(begin, "an upgrade by one minor");
    });
    const { serverVersion } = JSON.parse(tenant("version", "-o", "json")) as { serverVersion: { gitVersion: string } };
    expect(serverVersion.gitVersion).toBe(VERSION);
    expect(written.longest).toBeLessThan(5_000);
  });

  test("hibernates with no pod left, and wakes with its objects", async () => {
    const names = tenant("get", "configmaps", "-o", "name");
    patch("one", { replicas: 0 });
    await until("no pods", () => rig.pods(namespace).length === 0);
    const begin = performance.now();
    patch("one", { replicas: 2 });
    await until("a ready API", () => readyz());
    since(begin, "woken to a ready API");
    await until("all of it", () => isSettled("one"));
    expect(tenant("get", "configmaps", "-o", "name")).toBe(names);
  });

  test("moves to an etcd of its own under writes, which then gets two more members", async () => {
    const begin = performance.now();
    await during("move", async () => {
      patch("one", { pods: { datastore: { type: "Own", members: 1, storage: "2Gi" } } });
      await until("its own etcd", () => readyOf(namespace, "etcd").length === 1 && isSettled("one"));
      since(begin, "a move to an etcd of its own");
    });
    const again = performance.now();
    const written = await during("members", async () => {
      patch("one", { pods: { datastore: { members: 3 } } });
      await until("three members", () => readyOf(namespace, "etcd").length === 3 && isSettled("one"));
      since(again, "from one member to three");
    });
    expect(written.longest).toBeLessThan(10_000);
  });

  test("is deleted: its namespace and its volumes", async () => {
    const own = volumesOf(namespace);
    expect(own).toHaveLength(3);
    rig.workload("delete", "hostedcontrolplane,clusters.cluster.x-k8s.io", "one", "--timeout=600s");
    await until("no namespace", () => rig.find("namespace", namespace) === undefined);
    await eventually(TIMEOUT, () => volumesOf(namespace).length === 0);
  });

  test("the service cluster is deleted with the shared etcd; nothing is left in the project", async () => {
    rig.workload("delete", "deployment", "hosted-control-plane", "-n", "causeway-system");
    rig.workload("delete", "namespace", pool, "--timeout=600s");
    await eventually(TIMEOUT, () => volumesOf(pool).length === 0);
    rig.deleteCluster();
    await eventually(TIMEOUT, async () => JSON.stringify(await inventory(rig.cloud)) === JSON.stringify(rig.before));
  });
});

const nodesOf = (pods: readonly PodView[], component: string): ReadonlySet<string | undefined> =>
  new Set(pods.filter((pod) => componentOf(pod) === component).map(({ spec }) => spec.nodeName));

const podNamed = (pods: readonly PodView[], name: string): PodView | undefined =>
  pods.find(({ metadata }) => metadata.name === name);

interface PlaneView {
  readonly status?: {
    readonly version?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

interface VolumeList {
  readonly items: readonly { readonly spec: { readonly claimRef?: { readonly namespace: string } } }[];
}
