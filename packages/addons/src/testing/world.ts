import { addonKinds, AddonSet, allKinds, Cluster, toCustomResourceDefinition, type AddonSetSpec } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { silentLog, VirtualClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  Event,
  loadKubeconfig,
  type KubernetesClient,
  type RemoteCluster,
  type RemoteClusters,
} from "@causeway/kubernetes";
import { createAddons } from "../addonset/controller.ts";
import type { Dial } from "../health/prober.ts";

export const namespace = "default";
const clusterKey = { namespace, name: "tenant" };

export interface World {
  /** Of the management cluster. */
  readonly client: KubernetesClient;
  /** Of the workload cluster, as its users have it. */
  readonly tenant: KubernetesClient;
  readonly clock: VirtualClock;
  /** Changing requests of the controller to the workload cluster, such as "apply Deployment a/b". */
  readonly calls: string[];
  /** Changes an add-on set, or creates it. */
  declare(addons: AddonSetSpec["addons"], more?: Partial<AddonSetSpec>): Promise<void>;
  set(): Promise<AddonSet>;
  /** Awaits `holds` while the clock is stopped. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  /** Awaits `holds`, and moves the clock. Returns milliseconds that passed on it. */
  pass(what: string, holds: () => Promise<boolean>): Promise<number>;
  events(client: KubernetesClient): Promise<string[]>;
  /** Ends the controller and starts another, as after kill -9. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A management cluster with the controller, and a workload cluster: two logical clusters of one embedded API server.
 */
export async function startWorld(options: { readonly dial?: Dial } = {}): Promise<World> {
  const clock = new VirtualClock(Date.now());
  const server = await startApiServer({ crds: [...allKinds, ...addonKinds].map(toCustomResourceDefinition) });
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const logical = await server.ensureCluster("default.tenant", { serviceCidr: "10.96.0.0/12", version: "v1.34.4" });
  const tenant = createClient(loadKubeconfig({ text: await logical.kubeconfig() }));
  await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: clusterKey.name, namespace },
    spec: {
      clusterNetwork: { services: { cidrBlocks: ["10.96.0.0/12"] }, pods: { cidrBlocks: ["10.244.0.0/16"] } },
      controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 },
      topology: { classRef: { name: "none" }, version: "v1.34.4" },
    },
  });
  const calls: string[] = [];
  let stop = (): Promise<unknown> => Promise.resolve();
  let remote: RemoteCluster | undefined;
  const start = (): void => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const informers = createInformers(client, { clock });
    const remoteInformers = createInformers(counted(tenant, calls), { clock });
    remote = { key: clusterKey, client: remoteInformers.client, informers: remoteInformers, signal };
    const events = createEventRecorder(client, { component: "causeway-addons", clock, signal });
    const controller = createAddons({
      informers,
      remoteClusters: {
        get: () => remote,
        onConnect: (handler) => {
          if (remote) handler(remote);
          return () => {};
        },
        run: () => Promise.resolve(),
      } satisfies RemoteClusters,
      ...(options.dial ? { dial: options.dial } : {}),
      events,
      clock,
      log: silentLog,
    });
    const running = [informers.run(signal), remoteInformers.run(signal), controller.run(signal)];
    stop = () => {
      stopping.abort(new Error("stopped"));
      return Promise.allSettled(running);
    };
  };
  start();
  const world: World = {
    client,
    tenant,
    clock,
    calls,
    async declare(addons, more = {}) {
      const object = {
        apiVersion: "addons.causeway.dev/v1alpha1",
        kind: "AddonSet",
        metadata: { name: "system", namespace },
        spec: { clusterName: clusterKey.name, addons, ...more },
      };
      await client.apply(AddonSet, object, { fieldManager: "test" });
    },
    set: () => client.get(AddonSet, { namespace, name: "system" }),
    async until(what, holds) {
      for (let i = 0; i < 6_000; i++) {
        if (await holds()) return;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`did not happen: ${what}; ${JSON.stringify((await world.set()).status?.conditions)}`);
    },
    async pass(what, holds) {
      const began = clock.now();
      for (let i = 0; i < 6_000; i++) {
        if (await holds()) return clock.now() - began;
        await new Promise((resolve) => setTimeout(resolve, 5));
        await clock.advance(100);
      }
      throw new Error(`did not happen: ${what}; ${JSON.stringify((await world.set()).status)}`);
    },
    async events(of) {
      const { items } = await of.list(Event);
      return items.map(({ reason, message }) => `${reason}: ${message}`);
    },
    async restart() {
      await stop();
      start();
    },
    async stop() {
      await stop();
      await Promise.all([client.close(), tenant.close()]);
      await server.close();
    },
  };
  return world;
}

/** The same client; what it changes is noted. */
function counted(client: KubernetesClient, calls: string[]): KubernetesClient {
  const noted = <T>(verb: string, kind: string, where: Place, answer: Promise<T>): Promise<T> => {
    const { namespace: space = "", name = "" } = where;
    if (kind !== "Event") calls.push(`${verb} ${kind} ${space === "" ? "" : `${space}/`}${name}`);
    return answer;
  };
  return {
    server: client.server,
    get: (type, key, options) => client.get(type, key, options),
    find: (type, key, options) => client.find(type, key, options),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    request: (method, path, options) => client.request(method, path, options),
    close: () => client.close(),
    create: (type, object, options) =>
      noted("create", type.kind, object.metadata, client.create(type, object, options)),
    update: (type, object, options) =>
      noted("update", type.kind, object.metadata, client.update(type, object, options)),
    patch: (type, key, patch, options) => noted("patch", type.kind, key, client.patch(type, key, patch, options)),
    apply: (type, object, options) => noted("apply", type.kind, object.metadata, client.apply(type, object, options)),
    delete: (type, key, options) => noted("delete", type.kind, key, client.delete(type, key, options)),
  };
}

interface Place {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}
