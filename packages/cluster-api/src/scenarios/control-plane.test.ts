import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import {
  allKinds,
  Cluster,
  clusterSecretType,
  conversionsOf,
  KubeadmControlPlane,
  labels,
  Machine,
  OpenStackCluster,
  toCustomResourceDefinition,
} from "@causeway/api";
import { readCertificate } from "@causeway/foundation";
import { ConfigMap, getCondition, isNotFound, Secret } from "@causeway/kubernetes";
import { parse } from "yaml";
import { ControlPlaneMachines } from "../testing/control-plane-machines.ts";
import { reference, template } from "../testing/manifests.ts";
import { key, namespace, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A cluster whose control plane is machines; its authority is given, as a user may. */
async function started(replicas: number): Promise<{ w: World; machines: ControlPlaneMachines }> {
  const crds = allKinds.map((kind) => toCustomResourceDefinition(kind));
  const w = await World.start(await startApiServer({ crds, conversions: conversionsOf(allKinds) }));
  world = w;
  const machines = new ControlPlaneMachines(w);
  w.run(allKinds, { access: machines });
  const { certificate, key: privateKey } = w.workload.authority;
  await w.client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "demo-ca", namespace, labels: { [labels.clusterName]: "demo" } },
    type: clusterSecretType,
    data: { "tls.crt": base64(certificate), "tls.key": base64(privateKey) },
  });
  await w.apply(template("control"));
  await w.client.create(OpenStackCluster, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackCluster",
    metadata: { name: "demo", namespace },
    spec: { identityRef: { name: "cloud", cloudName: "openstack" } },
  });
  await w.client.create(KubeadmControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
    kind: "KubeadmControlPlane",
    metadata: { name: "control", namespace },
    spec: {
      replicas,
      version: "v1.34.0",
      machineTemplate: {
        spec: { infrastructureRef: reference("infrastructure", "OpenStackMachineTemplate", "control") },
      },
      kubeadmConfigSpec: {
        clusterConfiguration: { apiServer: { extraArgs: [{ name: "cloud-provider", value: "external" }] } },
      },
    },
  });
  await w.client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "demo", namespace },
    spec: {
      controlPlaneEndpoint: { host: "127.0.0.1", port: w.workload.port ?? 0 },
      infrastructureRef: reference("infrastructure", "OpenStackCluster", "demo"),
      controlPlaneRef: reference("controlplane", "KubeadmControlPlane", "control"),
    },
  });
  return { w, machines };
}

const settled = (w: World, machines: ControlPlaneMachines, replicas: number, version: string) =>
  machines.until(`${replicas} up-to-date machines of ${version}`, async () => {
    const { spec, status } = await w.client.get(KubeadmControlPlane, key("control"));
    const all = await w.machines();
    const done =
      spec.version === version &&
      all.length === replicas &&
      all.every((machine) => machine.spec.version === version) &&
      status?.readyReplicas === replicas &&
      status.upToDateReplicas === replicas;
    return done ? status : undefined;
  });

const patch = (w: World, spec: object) =>
  w.client.patch(KubeadmControlPlane, key("control"), { type: "merge", body: { spec } });

test(
  "a control plane of three machines is created, upgraded one at a time, repaired, scaled down and deleted",
  { timeout: 300_000 },
  async () => {
    const { w, machines } = await started(3);
    const status = await settled(w, machines, 3, "v1.34.0");
    expect(status).toMatchObject({
      initialization: { controlPlaneInitialized: true },
      replicas: 3,
      version: "v1.34.0",
    });
    const available = await machines.until("an Available control plane", async () => {
      const found = await w.client.get(KubeadmControlPlane, key("control"));
      return getCondition(found.status?.conditions, "Available")?.status === "True" && found.status;
    });
    for (const type of [
      "Initialized",
      "CertificatesAvailable",
      "EtcdClusterHealthy",
      "ControlPlaneComponentsHealthy",
    ]) {
      expect([type, getCondition(available.conditions, type)?.status]).toEqual([type, "True"]);
    }
    // One machine ran kubeadm init, the others joined it.
    const data = await Promise.all(
      (await w.machines()).map(async ({ metadata }) => {
        const secret = await w.client.get(Secret, key(metadata.name));
        return Buffer.from(secret.data?.["value"] ?? "", "base64").toString("utf8");
      }),
    );
    expect(data.filter((text) => text.includes("kubeadm init --config /run/kubeadm/kubeadm.yaml"))).toHaveLength(1);
    expect(data.filter((text) => text.includes("kubeadm join --config"))).toHaveLength(2);
    for (const text of data) expect(text).toContain("/etc/kubernetes/pki/etcd/ca.key");
    await machines.until("a lock that is released", async () => {
      try {
        await w.client.get(ConfigMap, key("demo-lock"));
        return undefined;
      } catch (error) {
        return isNotFound(error);
      }
    });

    const before = (await w.machines()).map(({ metadata }) => metadata.name).toSorted();
    await patch(w, { version: "v1.35.0" });
    let most = 0;
    await machines.until("three machines of v1.35.0", async () => {
      const all = await w.machines();
      most = Math.max(most, all.length);
      const { status: now } = await w.client.get(KubeadmControlPlane, key("control"));
      return all.length === 3 && all.every(({ spec }) => spec.version === "v1.35.0") && now?.upToDateReplicas === 3;
    });
    expect(most).toBe(4);
    expect((await machines.nodes()).filter((name) => before.includes(name))).toEqual([]);
    const config = await w.inside.get(ConfigMap, { namespace: "kube-system", name: "kubeadm-config" });
    expect(parse(config.data?.["ClusterConfiguration"] ?? "")).toMatchObject({
      kubernetesVersion: "v1.35.0",
      clusterName: "demo",
    });

    // A machine that fails its health check is replaced, and its member leaves first.
    await settled(w, machines, 3, "v1.35.0");
    const failed = (await w.machines()).map(({ metadata }) => metadata.name).find((name) => name !== machines.leader);
    if (!failed) throw new Error("no machine");
    const uid = (await w.client.get(Machine, key(failed))).metadata.uid;
    machines.members_.set(failed, { learner: false, problem: "it does not respond" });
    await machines.failHealthCheck(failed);
    await machines.until("a replacement", async () => {
      const all = await w.machines();
      return all.length === 3 && !all.some(({ metadata }) => metadata.uid === uid);
    });
    const repaired = await settled(w, machines, 3, "v1.35.0");
    expect(repaired.lastRemediation).toMatchObject({ machine: failed, retryCount: 0 });

    await patch(w, { replicas: 1 });
    await settled(w, machines, 1, "v1.35.0");
    expect(machines.members_.size).toBe(1);
    expect(machines.violations).toEqual([]);

    await w.client.delete(Cluster, key("demo"));
    await machines.until("nothing left", async () => {
      try {
        await w.client.get(Cluster, key("demo"));
        return undefined;
      } catch (error) {
        return isNotFound(error) && (await w.machines()).length === 0;
      }
    });
  },
);

test("a lost certificate is not made again, and the kubeconfig is an admin's", { timeout: 120_000 }, async () => {
  const { w, machines } = await started(1);
  await settled(w, machines, 1, "v1.34.0");
  const secret = await w.client.get(Secret, key("demo-kubeconfig"));
  const config = parse(Buffer.from(secret.data?.["value"] ?? "", "base64").toString("utf8")) as {
    users: { name: string; user: Record<string, string> }[];
  };
  const certificate = Buffer.from(config.users[0]?.user["client-certificate-data"] ?? "", "base64").toString("utf8");
  expect(config.users[0]?.name).toBe("demo-admin");
  expect(readCertificate(certificate)).toMatchObject({
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
  });

  await w.client.delete(Secret, key("demo-etcd"));
  await patch(w, { replicas: 3 });
  const blocked = await machines.until("CertificatesAvailable False", async () => {
    const found = await w.client.get(KubeadmControlPlane, key("control"));
    const condition = getCondition(found.status?.conditions, "CertificatesAvailable");
    return condition?.status === "False" && condition;
  });
  expect(blocked.message).toContain("etcd");
  expect(await w.client.find(Secret, key("demo-etcd"))).toBeUndefined();
  expect(await w.machines()).toHaveLength(1);
});
