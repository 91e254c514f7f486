import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import {
  allKinds,
  Cluster,
  clusterSecretType,
  conversionsOf,
  HostedControlPlane,
  KubeadmConfig,
  Machine,
  MachineDeployment,
  MachineHealthCheck,
  MachineSet,
  OpenStackCluster,
  OpenStackMachine,
  toCustomResourceDefinition,
} from "@causeway/api";
import { createRequest, systemClock } from "@causeway/foundation";
import {
  CertificateSigningRequest,
  createClient,
  Event,
  Node,
  Pod,
  Secret,
  type KubeObject,
} from "@causeway/kubernetes";
import { parse, parseDocument } from "yaml";
import { everything, reference, template } from "./testing/manifests.ts";
import { key, namespace, World } from "./testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function started(replicas: number): Promise<{ world: World; stop: () => Promise<void> }> {
  const crds = allKinds.map((kind) => toCustomResourceDefinition(kind));
  world = await World.start(await startApiServer({ crds, conversions: conversionsOf(allKinds) }));
  const stop = world.run();
  await world.apply(...everything(replicas));
  return { world, stop };
}

describe("a cluster with workers", { timeout: 300_000 }, () => {
  test("is created, scaled, rolled out and deleted, leaving nothing", async () => {
    const { world: w } = await started(2);
    const machines = await w.running(2);

    for (const { metadata } of machines) {
      const node = await w.until("an initialized node", async () => {
        const found = await w.inside.get(Node, { namespace: "", name: metadata.name });
        return (found.spec?.taints ?? []).length === 0 ? found : undefined;
      });
      expect(node.metadata.labels).toHaveProperty(["node-role.kubernetes.io/worker"]);
      expect(node.metadata.annotations).toMatchObject({ "cluster.x-k8s.io/machine": metadata.name });
    }
    const settled = await w.until("an Available cluster", async () => {
      const found = await w.client.get(Cluster, key("demo"));
      return found.status?.conditions?.some((c) => c.type === "Available" && c.status === "True") ? found : undefined;
    });
    expect(settled.spec.controlPlaneEndpoint).toEqual({ host: "127.0.0.1", port: w.workload.port });
    expect(settled.status).toMatchObject({
      phase: "Provisioned",
      workers: { desiredReplicas: 2, availableReplicas: 2 },
    });
    const tokens = await w.until("tokens gone", async () => {
      const { items } = await w.inside.list(Secret, { namespace: "kube-system" });
      return items.filter(({ type }) => type === "bootstrap.kubernetes.io/token").length === 0 && [true];
    });
    expect(tokens).toEqual([true]);

    // The scale subresource, as kubectl scale uses it.
    await w.client.patch(
      MachineDeployment,
      key("workers"),
      { type: "merge", body: { spec: { replicas: 3 } } },
      { subresource: "scale" },
    );
    await w.running(3);
    await w.client.patch(
      MachineDeployment,
      key("workers"),
      { type: "merge", body: { spec: { replicas: 1 } } },
      { subresource: "scale" },
    );
    const [last] = await w.running(1);
    expect((await w.inside.list(Node)).items.map(({ metadata }) => metadata.name)).toEqual([last?.metadata.name]);

    await w.apply(template("workers-2"));
    const next = { infrastructureRef: reference("infrastructure", "OpenStackMachineTemplate", "workers-2") };
    const body = { spec: { template: { spec: next } } };
    await w.client.patch(MachineDeployment, key("workers"), { type: "merge", body });
    await w.until("the new machine alone", async () => {
      const [machine, ...rest] = await w.running(1);
      return rest.length === 0 && machine?.metadata.name !== last?.metadata.name ? machine : undefined;
    });
    await w.until("one MachineSet", async () => (await w.client.list(MachineSet)).items.length === 1);

    await w.client.delete(Cluster, key("demo"));
    await w.until("the cluster gone", async () => !(await w.client.find(Cluster, key("demo"))));
    for (const kind of [
      Machine,
      MachineSet,
      MachineDeployment,
      KubeadmConfig,
      OpenStackMachine,
      OpenStackCluster,
      HostedControlPlane,
    ]) {
      await w.until(`no ${kind.kind} left`, async () => (await w.client.list<KubeObject>(kind)).items.length === 0);
    }
    await w.until("word of what went", async () => {
      const { items } = await w.client.list(Event, { namespace });
      const messages = new Set(items.map(({ message }) => message));
      return ["MachineDeployment workers", "HostedControlPlane demo"].every((name) => messages.has(`Deleting ${name}`));
    });
  });

  test("has a Machine replaced whose Node is not Ready, by a MachineHealthCheck of v1beta1", async () => {
    const { world: w } = await started(2);
    const [sick, other] = await w.running(2);
    const body = {
      apiVersion: "cluster.x-k8s.io/v1beta1",
      kind: "MachineHealthCheck",
      metadata: { name: "workers", namespace },
      spec: {
        clusterName: "demo",
        selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "workers" } },
        maxUnhealthy: "50%",
        unhealthyConditions: [{ type: "Ready", status: "False", timeout: "0s" }],
      },
    };
    const path = `/apis/cluster.x-k8s.io/v1beta1/namespaces/${namespace}/machinehealthchecks`;
    await w.client.request("POST", path, { body });
    const checked = async () => (await w.client.get(MachineHealthCheck, key("workers"))).status?.currentHealthy === 2;
    await w.until("two healthy Machines", checked);
    const status = {
      conditions: [{ type: "Ready", status: "False", reason: "Test", lastTransitionTime: "2026-01-01T00:00:00Z" }],
    };
    const node = { namespace: "", name: sick?.metadata.name ?? "" };
    await w.inside.patch(Node, node, { type: "merge", body: { status } }, { subresource: "status" });
    await w.until("the Machine gone", async () => !(await w.client.find(Machine, key(node.name))));
    const machines = await w.running(2);
    expect(machines.map(({ metadata }) => metadata.name)).toContain(other?.metadata.name);
    const shown = (await w.client.request("GET", `${path}/workers`)) as { spec: unknown };
    expect(shown.spec).toMatchObject(body.spec);
  });

  test("writes nothing once it is reconciled", async () => {
    const { world: w, stop } = await started(2);
    await w.running(2);
    await w.until("an Available deployment", async () => {
      const { status } = await w.client.get(MachineDeployment, key("workers"));
      return status?.phase === "Running" && status.availableReplicas === 2;
    });
    await systemClock.sleep(300);
    const versions = async () => {
      const lists = await Promise.all(allKinds.map((kind) => w.client.list<KubeObject>(kind)));
      return lists.flatMap(({ items }) =>
        items.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`),
      );
    };
    const before = await versions();
    await stop();
    w.run();
    await systemClock.sleep(500);
    expect(await versions()).toEqual(before);
  });

  test("creates exactly the requested machines, however often it is interrupted", async () => {
    const { world: w, stop } = await started(4);
    let kill = stop;
    for (let round = 0; round < 6; round++) {
      await systemClock.sleep(15 * round);
      await kill();
      kill = w.run();
    }
    const machines = await w.running(4);
    const names = machines.map(({ metadata }) => metadata.name).sort();
    for (const kind of [OpenStackMachine, KubeadmConfig]) {
      const { items } = await w.client.list<KubeObject>(kind);
      expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(names);
    }
  });
});

describe("the bootstrap of a machine", { timeout: 300_000 }, () => {
  test("user data joins with a token of its own, and its secrets remain in Secrets", async () => {
    const { world: w } = await started(1);
    const secret = await w.until("bootstrap data", async () => {
      const [machine] = await w.machines();
      return machine?.spec.bootstrap.dataSecretName
        ? w.client.get(Secret, key(machine.spec.bootstrap.dataSecretName))
        : undefined;
    });
    const decode = (name: string) => Buffer.from(secret.data?.[name] ?? "", "base64").toString("utf8");
    expect(secret.type).toBe(clusterSecretType);
    expect(decode("format")).toBe("cloud-config");
    const userData = decode("value");
    expect(userData.startsWith("## template: jinja\n#cloud-config\n")).toBe(true);
    const document = parse(userData) as { write_files: { path: string; content: string }[]; runcmd: string[] };
    expect(document.runcmd[0]).toBe("swapoff -a");
    const file = document.write_files.find(({ path }) => path === "/run/kubeadm/kubeadm-join-config.yaml");
    const join = parseDocument(file?.content ?? "").toJS() as { discovery: { bootstrapToken: { token: string } } };
    const { token } = join.discovery.bootstrapToken;
    const name = `bootstrap-token-${token.slice(0, 6)}`;
    const stored = await w.inside.get(Secret, { namespace: "kube-system", name });
    expect(Buffer.from(stored.data?.["token-secret"] ?? "", "base64").toString()).toBe(token.slice(7));
    const everywhere = await Promise.all([w.client.list(KubeadmConfig), w.client.list(Machine), w.client.list(Event)]);
    expect(JSON.stringify(everywhere)).not.toContain(token.slice(7));
  });

  test("the machine's first certificate is approved, another machine's is not", async () => {
    const { world: w } = await started(1);
    const machine = await w.until("bootstrap data", async () => {
      const [found] = await w.machines();
      return found?.spec.bootstrap.dataSecretName ? found : undefined;
    });
    const secret = await w.client.get(Secret, key(machine.metadata.name));
    const token = Buffer.from(secret.data?.["bootstrap-token"] ?? "", "base64").toString("utf8");
    const kubelet = createClient({ server: w.workload.url, ca: w.workload.authority.certificate, token });
    const ask = async (name: string, node: string) => {
      const { request } = await createRequest({ commonName: `system:node:${node}`, organizations: ["system:nodes"] });
      await kubelet.create(CertificateSigningRequest, {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name },
        spec: {
          request: Buffer.from(request).toString("base64"),
          signerName: "kubernetes.io/kube-apiserver-client-kubelet",
          usages: ["digital signature", "client auth"],
        },
      });
    };
    await ask("own", machine.metadata.name);
    await ask("stolen", "another-user");
    await w.until("an approval", async () => {
      const { status } = await w.inside.get(CertificateSigningRequest, { namespace: "", name: "own" });
      return status?.conditions?.some(({ type }) => type === "Approved");
    });
    const stolen = await w.inside.get(CertificateSigningRequest, { namespace: "", name: "stolen" });
    expect(stolen.status?.conditions ?? []).toEqual([]);
    await w.until("an event about it", async () => {
      const { items } = await w.client.list(Event, { namespace });
      return items.find(({ reason }) => reason === "CertificateRequestLeft");
    });
    await kubelet.close();
  });
});

describe("the drain of a Node", { timeout: 300_000 }, () => {
  test("pods leave the node before its machine is deleted", async () => {
    const { world: w } = await started(1);
    const [machine] = await w.running(1);
    const node = machine?.metadata.name ?? "";
    const pod = (name: string, extra: object = {}): Pod => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, ...extra },
      spec: { nodeName: node, containers: [{ name: "a", image: "a" }] },
    });
    const daemon = [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }];
    await w.inside.create(Pod, pod("app"));
    await w.inside.create(Pod, pod("agent", { ownerReferences: daemon }));
    await w.client.delete(Machine, key(node));
    await w.until("a cordoned node without the pod", async () => {
      const found = await w.inside.get(Node, { namespace: "", name: node });
      const gone = await w.inside.find(Pod, key("app"));
      return found.spec?.unschedulable && (!gone || gone.metadata.deletionTimestamp);
    });
    await w.inside.delete(Pod, key("app"), { gracePeriodSeconds: 0 });
    await w.until("the machine gone", async () => !(await w.client.find(Machine, key(node))));
    expect(await w.inside.find(Node, { namespace: "", name: node })).toBeUndefined();
  });
});
