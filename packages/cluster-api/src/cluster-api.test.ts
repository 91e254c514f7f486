import { afterEach, describe, expect, test } from "vitest";
import { startApiServer, type ApiServer, type LogicalCluster } from "@causeway/apiserver";
import {
  allKinds,
  Cluster,
  clusterSecretType,
  HostedControlPlane,
  KubeadmConfig,
  type KubeadmConfigTemplate,
  labels,
  Machine,
  MachineDeployment,
  MachineSet,
  OpenStackCluster,
  OpenStackMachine,
  taints,
  toCustomResourceDefinition,
} from "@causeway/api";
import { createRequest, silentLog, systemClock } from "@causeway/foundation";
import {
  CertificateSigningRequest,
  createClient,
  createEventRecorder,
  createInformers,
  createRemoteClusters,
  Event,
  loadKubeconfig,
  Node,
  Pod,
  Secret,
  type Informers,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { parse, parseDocument } from "yaml";
import { createClusterApi } from "./index.ts";

/**
 * The controllers on the embedded API server, with providers played here: infrastructure and control plane say what the
 * contract asks of them, and nodes join by hand.
 */

const namespace = "default";
const key = (name: string) => ({ namespace, name });
const ready = (type: string) => ({ type, status: "True", reason: "Ready", lastTransitionTime: "2026-01-01T00:00:00Z" });

class World {
  readonly server: ApiServer;
  readonly workload: LogicalCluster;
  readonly client: KubernetesClient;
  readonly inside: KubernetesClient;
  readonly #stop = new AbortController();
  readonly #closing: Promise<unknown>[] = [];

  private constructor(server: ApiServer, workload: LogicalCluster, configs: { outer: string; inner: string }) {
    this.server = server;
    this.workload = workload;
    this.client = createClient(loadKubeconfig({ text: configs.outer }));
    this.inside = createClient(loadKubeconfig({ text: configs.inner }));
  }

  static async start(): Promise<World> {
    const server = await startApiServer({ crds: allKinds.map((kind) => toCustomResourceDefinition(kind)) });
    const workload = await server.ensureCluster("default-demo", { listen: { host: "127.0.0.1", port: 0, names: [] } });
    const configs = { outer: await server.management.kubeconfig(), inner: await workload.kubeconfig() };
    return new World(server, workload, configs);
  }

  /** Starts the controllers; the returned function is kill -9 as far as they are concerned. */
  run(): () => Promise<void> {
    const stop = new AbortController();
    const informers = createInformers(this.client, { clock: systemClock, log: silentLog });
    const remoteClusters = createRemoteClusters({ informers, clock: systemClock, log: silentLog });
    const events = createEventRecorder(this.client, { component: "causeway" });
    const api = createClusterApi({
      informers,
      remoteClusters,
      kinds: allKinds,
      clock: systemClock,
      log: silentLog,
      events,
    });
    const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
    this.#playProviders(informers, signal);
    const running = Promise.all([informers.run(signal), remoteClusters.run(signal), api.run(signal)]);
    this.#closing.push(running);
    return async () => {
      stop.abort();
      await running;
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#closing);
    await Promise.all([this.client.close(), this.inside.close()]);
    await this.server.close();
  }

  /** What infrastructure and control plane providers do, by the contract. */
  #playProviders(informers: Informers, signal: AbortSignal): void {
    const status = (
      type: typeof OpenStackCluster | typeof OpenStackMachine | typeof HostedControlPlane,
      name: string,
      value: object,
    ) =>
      this.client
        .patch(
          type as typeof OpenStackCluster,
          key(name),
          { type: "merge", body: { status: value } },
          { subresource: "status", signal },
        )
        .catch(() => {});
    informers.for(OpenStackCluster).onChange(({ type, object }) => {
      if (type !== "deleted" && !object.status?.initialization?.provisioned) {
        void status(OpenStackCluster, object.metadata.name, {
          initialization: { provisioned: true },
          conditions: [ready("Ready")],
        });
      }
    });
    informers.for(HostedControlPlane).onChange(({ type, object }) => {
      if (type === "deleted" || object.status?.initialization?.controlPlaneInitialized) return;
      void this.#secrets(signal).then(() =>
        status(HostedControlPlane, object.metadata.name, {
          initialization: { controlPlaneInitialized: true },
          endpoint: { host: "127.0.0.1", port: this.workload.port },
          version: "v1.34.0",
          conditions: [ready("Available")],
        }),
      );
    });
    informers.for(OpenStackMachine).onChange(({ type, object }) => {
      if (type === "deleted" || object.status?.initialization?.provisioned) return;
      void this.#provide(object, signal);
    });
  }

  async #secrets(signal: AbortSignal): Promise<void> {
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const secret = (name: string, data: Record<string, string>): Secret => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace, labels: { [labels.clusterName]: "demo" } },
      type: clusterSecretType,
      data,
    });
    const { certificate, key: privateKey } = this.workload.authority;
    const ca = secret("demo-ca", { "tls.crt": base64(certificate), "tls.key": base64(privateKey) });
    const kubeconfig = secret("demo-kubeconfig", { value: base64(await this.workload.kubeconfig()) });
    for (const object of [ca, kubeconfig]) await this.client.create(Secret, object, { signal }).catch(() => {});
  }

  async #provide(object: OpenStackMachine, signal: AbortSignal): Promise<void> {
    const { name } = object.metadata;
    const machine = await this.client.find(Machine, key(name));
    if (!machine?.spec.bootstrap.dataSecretName) {
      // The contract's gate: no machine without bootstrap data.
      await systemClock.sleep(20, signal).catch(() => {});
      if (!signal.aborted && (await this.client.find(OpenStackMachine, key(name))))
        return this.#provide(object, signal);
      return;
    }
    const body = { spec: { providerID: `openstack:///${name}` } };
    await this.client.patch(OpenStackMachine, key(name), { type: "merge", body }, { signal }).catch(() => {});
    const addresses = [{ type: "InternalIP", address: "10.6.0.9" }];
    const status = { initialization: { provisioned: true }, addresses, conditions: [ready("Ready")] };
    await this.client
      .patch(OpenStackMachine, key(name), { type: "merge", body: { status } }, { subresource: "status", signal })
      .catch(() => {});
  }

  /** A kubelet's first words. */
  async join(name: string): Promise<void> {
    await this.inside.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name },
      spec: {
        providerID: `openstack:///${name}`,
        taints: [{ key: taints.uninitialized, effect: "NoSchedule" }],
      },
    });
    const conditions = [{ type: "Ready", status: "True" }];
    const status = { conditions, nodeInfo: { kubeletVersion: "v1.34.0" } };
    await this.inside.patch(
      Node,
      { namespace: "", name },
      { type: "merge", body: { status } },
      { subresource: "status" },
    );
  }

  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const kind = allKinds.find((k) => k.kind === object.kind);
      if (kind) await this.client.create(kind, { ...object, metadata: { ...object.metadata, namespace } });
    }
  }

  async machines(): Promise<Machine[]> {
    return (await this.client.list(Machine, { namespace })).items;
  }

  /** Waits until `check` returns something. */
  async until<T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> {
    for (let round = 0; round < 400; round++) {
      const found = await check().catch(() => undefined);
      if (found) return found;
      await systemClock.sleep(20);
    }
    throw new Error(`never came: ${what}`);
  }

  running(count: number): Promise<Machine[]> {
    const joined = new Set<string>();
    return this.until(`${count} machines Running`, async () => {
      const machines = await this.machines();
      for (const { metadata, spec } of machines) {
        if (!spec.providerID || joined.has(metadata.name) || metadata.deletionTimestamp) continue;
        joined.add(metadata.name);
        await this.join(metadata.name).catch(() => {});
      }
      const alive = machines.filter(({ status }) => status?.phase === "Running");
      return machines.length === count && alive.length === count ? machines : undefined;
    });
  }
}

const api = (group: string, version = "v1beta2") => `${group}.cluster.x-k8s.io/${version}`;
const reference = (apiGroup: string, kind: string, name: string) => ({
  apiGroup: `${apiGroup}.cluster.x-k8s.io`,
  kind,
  name,
});

const cluster: Cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "demo" },
  spec: {
    clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] } },
    infrastructureRef: reference("infrastructure", "OpenStackCluster", "demo"),
    controlPlaneRef: reference("controlplane", "HostedControlPlane", "demo"),
  },
};
const infrastructure = {
  apiVersion: api("infrastructure"),
  kind: "OpenStackCluster",
  metadata: { name: "demo" },
  spec: { identityRef: { name: "cloud", cloudName: "openstack" } },
};
const controlPlane = {
  apiVersion: api("controlplane", "v1alpha1"),
  kind: "HostedControlPlane",
  metadata: { name: "demo" },
  spec: { version: "v1.34.0" },
};
const template = (name: string) => ({
  apiVersion: api("infrastructure"),
  kind: "OpenStackMachineTemplate",
  metadata: { name },
  spec: { template: { spec: { flavor: { filter: { name: "m1.small" } }, image: { filter: { name: "node" } } } } },
});
const bootstrapTemplate: KubeadmConfigTemplate = {
  apiVersion: api("bootstrap"),
  kind: "KubeadmConfigTemplate",
  metadata: { name: "workers" },
  spec: {
    template: {
      spec: {
        joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }] } },
        preKubeadmCommands: ["swapoff -a"],
      },
    },
  },
};
const deployment = (replicas: number): MachineDeployment => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineDeployment",
  metadata: { name: "workers" },
  spec: {
    clusterName: "demo",
    replicas,
    template: {
      metadata: { labels: { "node-role.kubernetes.io/worker": "" } },
      spec: {
        clusterName: "demo",
        version: "v1.34.0",
        bootstrap: { configRef: reference("bootstrap", "KubeadmConfigTemplate", "workers") },
        infrastructureRef: reference("infrastructure", "OpenStackMachineTemplate", "workers"),
      },
    },
  },
});
const everything = (replicas: number) => [
  template("workers"),
  bootstrapTemplate,
  infrastructure,
  controlPlane,
  cluster,
  deployment(replicas),
];

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function started(replicas: number): Promise<{ world: World; stop: () => Promise<void> }> {
  world = await World.start();
  const stop = world.run();
  await world.apply(...everything(replicas));
  return { world, stop };
}

describe("a cluster with workers", () => {
  test("comes up, scales, rolls out and goes, leaving nothing", async () => {
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
      const told = new Set(items.map(({ message }) => message));
      return ["MachineDeployment workers", "HostedControlPlane demo"].every((name) => told.has(`Deleting ${name}`));
    });
  });

  test("writes nothing more once all is well", async () => {
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

  test("makes exactly the machines asked for, however often it is cut short", async () => {
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

describe("bootstrap", () => {
  test("user data joins with a token of its own, and its secrets stay in Secrets", async () => {
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
    await ask("stolen", "somebody-else");
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

describe("draining", () => {
  test("pods leave the node before its machine goes", async () => {
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
  }, 30_000);
});
