/**
 * A management cluster whose HostedControlPlanes run on one runtime with Kubernetes' own programs: embedded, as
 * processes, or as pods of a service cluster, whose containers' commands a played node runs as processes with the
 * mounts, the user and the names that the pods have.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ExternalAuthenticators, type StartClusterControllers } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createEmbeddedRuntime,
  createHostedControlPlane,
  createPodsRuntime,
  createProcessRuntime,
  createRuntimes,
  type ControlPlaneRuntime,
  type PodsSettings,
} from "@causeway/hosted-control-plane";
import {
  createClient,
  createEventRecorder,
  createInformers,
  isTrue,
  loadKubeconfig,
  ownerReference,
  Secret,
  secretText,
  type Condition,
  type KubernetesClient,
  type ObjectKey,
  Namespace,
} from "@causeway/kubernetes";
import { PlayedNode } from "./played-node.ts";
import { programs } from "./programs.ts";

/** The release that is built from tools/kubernetes. */
export const VERSION = "v1.34.4";
/** Serves embedded control planes with their controllers. */
const worker = resolve(import.meta.dirname, "../../packages/causeway/src/workloads/worker-main.ts");
/** Verifies tokens of Keystone. */
const external = resolve(import.meta.dirname, "../../packages/causeway/src/workloads/authenticators.ts");
/** The scheduler and the controllers of Deployments and StatefulSets. */
const workloads = resolve(import.meta.dirname, "../../packages/causeway/src/workloads/start.ts");
/** Issuers of tests are on this machine. */
export const issuerNetworks = ["127.0.0.0/8"];
/** So are sinks of audit events. */
export const auditNetworks = ["127.0.0.0/8"];
const needed = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

function missing(): string | undefined {
  const { kubernetes } = programs();
  if ("reason" in kubernetes) return kubernetes.reason;
  const absent = needed.filter((name) => !existsSync(join(kubernetes.dir, name)));
  return absent.length === 0 ? undefined : `${absent.join(", ")} not built`;
}

export interface World {
  readonly name: RuntimeName;
  readonly client: KubernetesClient;
  readonly runtime: ControlPlaneRuntime;
  readonly dir: string;
  tenant(name: string): Promise<KubernetesClient>;
  /** Kills the program of a pod of the played node by SIGKILL. */
  kill(pod: ObjectKey): void;
  /** Ends the controller and the runtime, and starts both on the same state. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Of what the Pods runtime makes in a service cluster. */
export const managed = "app.kubernetes.io/managed-by=causeway-hosted-control-plane";
export type RuntimeName = "Embedded" | "Process" | "Pods";

export const key = (name: string) => ({ namespace: "default", name });

/** What `check` finds in at most `attempts`, ten a second; what it throws counts as not found. */
export async function until<T>(what: string, check: () => Promise<T | undefined>, attempts = 1_500): Promise<T> {
  let last: unknown;
  for (let i = 0; i < attempts; i++) {
    try {
      const found = await check();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    await systemClock.sleep(100);
  }
  throw new Error(`not in time: ${what}`, { cause: last });
}

/** Why control planes of this runtime cannot be run here. */
export function missingFor(name: RuntimeName): string | undefined {
  if (name === "Embedded") return undefined;
  if (name === "Pods" && process.getuid?.() !== 0) return "needs root, for mount namespaces";
  return missing();
}

/**
 * A management cluster with the controller of HostedControlPlanes and one runtime. `others` are folders of programs of
 * further versions, `more` further settings of runtime Pods.
 */
export async function startWorld(
  name: RuntimeName,
  others: Readonly<Record<string, string>> = {},
  pool: NonNullable<PodsSettings["pool"]> = { members: 1 },
  more: Partial<PodsSettings> = {},
): Promise<World> {
  const cluster = await startCluster(name, others);
  const { dir, server, client, node } = cluster;
  let end = async (): Promise<void> => {};
  let runtime: ControlPlaneRuntime | undefined;
  const management = (await client.get(Namespace, { namespace: "", name: "kube-system" })).metadata.uid ?? "";
  const { authenticators } = (await import(external)) as { authenticators: ExternalAuthenticators };
  const start = (): void => {
    const stopping = new AbortController();
    const tools = { clock: systemClock, log: silentLog };
    const processes =
      name === "Process"
        ? createProcessRuntime({
            dir: join(dir, "state"),
            programs: join(dir, "programs"),
            authenticators,
            issuerNetworks,
            auditNetworks,
            ...tools,
          })
        : undefined;
    const embedded = createEmbeddedRuntime({ apiServer: server, issuerNetworks, auditNetworks });
    const informers = createInformers(client, tools);
    const readSecret = (namespace: string, secret: string) => client.find(Secret, { namespace, name: secret });
    const pods =
      name === "Pods"
        ? createPodsRuntime({
            informers,
            settings: { issuerNetworks, auditNetworks, ...more, owner: "suite", management, pool },
            readSecret,
            ...tools,
          })
        : undefined;
    runtime = createRuntimes({
      runtimes: {
        Embedded: embedded,
        ...(processes ? { Process: processes } : {}),
        ...(pods ? { Pods: pods } : {}),
      },
      default: name,
    });
    const events = createEventRecorder(client, { component: "test", clock: systemClock });
    const advertise = async () => "127.0.0.1";
    const controller = createHostedControlPlane({ informers, runtime, advertise, events, ...tools });
    const running = [
      informers.run(stopping.signal),
      controller.run(stopping.signal),
      ...(pods ? [pods.run(stopping.signal)] : []),
    ];
    end = async () => {
      stopping.abort(new Error("stopped"));
      await Promise.allSettled(running);
      await processes?.stop();
    };
  };
  start();
  return {
    name,
    client,
    dir,
    get runtime() {
      return runtime as ControlPlaneRuntime;
    },
    tenant: (of) => cluster.tenant(of),
    kill(pod) {
      if (node === undefined) throw new Error(`runtime ${name} has no pods`);
      node.kill(pod);
    },
    async restart() {
      await end();
      start();
    },
    async close() {
      await end();
      await cluster.close();
    },
  };
}

/** A management cluster without the controller of HostedControlPlanes, with a played node for runtime Pods. */
export async function startCluster(name: RuntimeName, others: Readonly<Record<string, string>> = {}) {
  const dir = mkdtempSync(join(tmpdir(), "control-planes-"));
  const folder = join(dir, "programs");
  const { kubernetes } = programs();
  if (name === "Process" && "dir" in kubernetes) {
    mkdirSync(folder);
    for (const [version, place] of Object.entries({ ...others, [VERSION]: kubernetes.dir }))
      symlinkSync(place, join(folder, version));
  }
  const server = await startApiServer({
    crds: allKinds.map(toCustomResourceDefinition),
    dir: join(dir, "apiserver"),
    isolation: { program: worker },
    // The management cluster is the service cluster: it binds the pods, and has Deployments and StatefulSets.
    ...(name === "Pods" ? await serviceCluster() : {}),
  });
  const kubeconfig = await server.management.kubeconfig();
  const client = createClient(loadKubeconfig({ text: kubeconfig }));
  const clients: KubernetesClient[] = [client];
  const node = name === "Pods" ? playNode(client, dir, others) : undefined;
  return {
    name,
    dir,
    server,
    /** Of its administrator. */
    kubeconfig,
    client,
    node,
    async tenant(of: string): Promise<KubernetesClient> {
      const text = await until("kubeconfig", async () =>
        secretText(await client.find(Secret, key(`${of}-kubeconfig`)), "value"),
      );
      const tenant = createClient(loadKubeconfig({ text }));
      clients.push(tenant);
      return tenant;
    },
    async close(): Promise<void> {
      await node?.stop();
      await Promise.all(clients.map((each) => each.close()));
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function serviceCluster() {
  const { startWorkloads } = (await import(workloads)) as { startWorkloads: StartClusterControllers };
  return { controllers: startWorkloads, management: { controllers: true } };
}

/** A node that runs the containers' commands with the programs that were built, of `others` where a tag names one. */
function playNode(
  client: KubernetesClient,
  dir: string,
  others: Readonly<Record<string, string>>,
): { kill(pod: ObjectKey): void; stop(): Promise<void> } {
  const { kubernetes } = programs();
  const built = "dir" in kubernetes ? kubernetes.dir : "";
  const programsOf = (image: string): string => others[image.slice(image.lastIndexOf(":") + 1)] ?? built;
  const stopping = new AbortController();
  const informers = createInformers(client, { clock: systemClock, log: silentLog });
  const node = new PlayedNode({ informers, client, dir: join(dir, "node"), programsOf });
  const running = [informers.run(stopping.signal), node.run(stopping.signal)];
  return {
    kill: (pod) => node.kill(pod),
    async stop() {
      stopping.abort(new Error("stopped"));
      await Promise.allSettled(running);
    },
  };
}

/** With runtime Pods "one" has an etcd of its own, and another is in the shared one, unless `spec` says otherwise. */
export async function create(
  { client, name: runtime }: Pick<World, "client" | "name">,
  name: string,
  spec: object = {},
): Promise<void> {
  const own = runtime === "Pods" && name === "one" ? { pods: { datastore: { type: "Own" as const } } } : {};
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: key(name),
    spec: {
      clusterNetwork: { services: { cidrBlocks: ["10.97.0.0/16"] }, pods: { cidrBlocks: ["10.244.0.0/16"] } },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
    },
  });
  const metadata = {
    labels: { "cluster.x-k8s.io/cluster-name": name },
    ownerReferences: [ownerReference(cluster, { controller: true })],
  };
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { ...key(name), ...metadata },
    spec: { version: VERSION, ...(runtime === "Embedded" ? {} : { runtime }), ...own, ...spec },
  });
}

/** Waits until the control plane reports Available; the object as it was then. */
export const available = (world: Pick<World, "client">, name: string) =>
  until(`${name} available`, async () => {
    const object = await world.client.get(HostedControlPlane, key(name));
    return isTrue((object.status?.conditions ?? []) as Condition[], "Available") ? object : undefined;
  });
