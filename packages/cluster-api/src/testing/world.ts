import {
  allKinds,
  clusterSecretType,
  HostedControlPlane,
  KubeadmControlPlane,
  labels,
  Machine,
  OpenStackCluster,
  OpenStackMachine,
  taints,
  type Kind,
} from "@causeway/api";
import { silentLog, systemClock, type KeyPair } from "@causeway/foundation";
import {
  type Condition,
  createClient,
  createEventRecorder,
  createInformers,
  createRemoteClusters,
  loadKubeconfig,
  Node,
  Secret,
  type Informers,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { createClusterApi, type ClusterApiOptions } from "../cluster-api.ts";

/** A logical cluster of an API server, as far as a world needs it. */
interface WorkloadServer {
  readonly url: string;
  readonly port: number | undefined;
  readonly authority: KeyPair;
  kubeconfig(): Promise<string>;
}

/** An API server that holds the CRDs of all kinds. */
export interface WorldServer {
  readonly management: { kubeconfig(): Promise<string> };
  ensureCluster(
    name: string,
    options: { listen: { host: string; port: number; names: readonly string[] } },
  ): Promise<WorkloadServer>;
  close(): Promise<void>;
}

/**
 * The controllers on the embedded API server, with providers played here: infrastructure and control plane say what the
 * contract requires of them, and nodes join by hand.
 */

export const namespace = "default";
export const key = (name: string) => ({ namespace, name });
const ready = (type: string) => ({ type, status: "True", reason: "Ready", lastTransitionTime: "2026-01-01T00:00:00Z" });

export class World {
  readonly server: WorldServer;
  readonly workload: WorkloadServer;
  readonly client: KubernetesClient;
  readonly inside: KubernetesClient;
  readonly #stop = new AbortController();
  readonly #closing: Promise<unknown>[] = [];

  private constructor(server: WorldServer, workload: WorkloadServer, configs: { outer: string; inner: string }) {
    this.server = server;
    this.workload = workload;
    this.client = createClient(loadKubeconfig({ text: configs.outer }));
    this.inside = createClient(loadKubeconfig({ text: configs.inner }));
  }

  static async start(server: WorldServer): Promise<World> {
    const workload = await server.ensureCluster("default-demo", { listen: { host: "127.0.0.1", port: 0, names: [] } });
    const configs = { outer: await server.management.kubeconfig(), inner: await workload.kubeconfig() };
    return new World(server, workload, configs);
  }

  /** Starts the controllers; the returned function is kill -9 as far as they are concerned. */
  run(
    kinds: readonly Kind<KubeObject>[] = allKinds,
    more: Partial<Pick<ClusterApiOptions, "access" | "clock" | "extensions">> = {},
  ): () => Promise<void> {
    const stop = new AbortController();
    const informers = createInformers(this.client, { clock: systemClock, log: silentLog });
    const remoteClusters = createRemoteClusters({ informers, clock: systemClock, log: silentLog });
    const events = createEventRecorder(this.client, { component: "causeway" });
    const api = createClusterApi({
      informers,
      remoteClusters,
      kinds,
      clock: systemClock,
      log: silentLog,
      events,
      ...more,
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
    const end = Date.now() + 120_000;
    while (Date.now() < end) {
      const found = await check().catch(() => undefined);
      if (found) return found;
      await systemClock.sleep(20);
    }
    throw new Error(`never came: ${what}\n${await this.#state()}`);
  }

  /** Machines and control planes with the conditions that are not met. */
  async #state(): Promise<string> {
    const machines = await this.client.list(Machine, { namespace });
    const controlPlanes = await this.client.list(KubeadmControlPlane, { namespace });
    return [...machines.items, ...controlPlanes.items]
      .map(({ kind, metadata, spec, status }: KubeObject & { spec?: unknown; status?: unknown }) => {
        const { version } = spec as { version?: string };
        const { conditions = [], phase } = (status ?? {}) as { conditions?: Condition[]; phase?: string };
        const unmet = conditions.filter((each) => each.status !== "True");
        const words = unmet.map(
          ({ type, status, reason, message }) => `${type}=${status} ${reason ?? ""}: ${message ?? ""}`,
        );
        return [`${kind} ${metadata.name} ${version ?? ""} ${phase ?? ""}`, ...words].join("\n  ");
      })
      .join("\n");
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
