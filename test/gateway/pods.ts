import {
  Deployment,
  EndpointSlice,
  isConflict,
  isNotFound,
  Pod,
  Secret,
  Service,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { startEcho, type EchoPod, type EchoTemplate } from "./echo-pod.ts";

/** Nodes of the played cluster, whose node ports are mapped to pods. */
export const NODES = { "node-0": "10.88.0.10", "node-1": "10.88.0.11" } as const;

interface PlayerOptions {
  readonly client: KubernetesClient;
  readonly program: string;
  readonly dir: string;
  readonly setMembers: (members: Readonly<Record<string, string>>) => void;
}

/** How often the cluster is read (ms). */
const EVERY = 250;

/**
 * Plays what a cluster does for Deployments and Services: pods as local processes, node ports, and the way from one to
 * the other.
 */
export class PodPlayer {
  readonly #options: PlayerOptions;
  readonly #pods = new Map<string, readonly EchoPod[]>();
  #addresses = 0;
  #stopped = false;
  #loop: Promise<void> | undefined;

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
    await Promise.all([...this.#pods.values()].flat().map(({ running }) => running.stop()));
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#deployments();
        await this.#services();
      } catch (error) {
        // Objects come and go while they are read.
        if (!isNotFound(error) && !isConflict(error)) console.error("pods:", error);
      }
      await new Promise((done) => setTimeout(done, EVERY));
    }
  }

  async #deployments(): Promise<void> {
    const { client } = this.#options;
    const { items } = await client.list(Deployment);
    const wanted = new Set(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
    for (const [key, pods] of this.#pods) {
      if (wanted.has(key)) continue;
      this.#pods.delete(key);
      const [namespace = ""] = key.split("/");
      for (const { name, running } of pods) {
        await running.stop();
        await client.delete(Pod, { namespace, name }).catch(() => {});
      }
    }
    const fresh = items.filter(({ metadata }) => !this.#pods.has(`${metadata.namespace}/${metadata.name}`));
    await Promise.all(
      fresh.map(async (deployment) => {
        const pods = await this.#start(deployment);
        this.#pods.set(`${deployment.metadata.namespace}/${deployment.metadata.name}`, pods);
      }),
    );
  }

  async #start({ metadata: { name, namespace = "" }, spec }: Deployment): Promise<EchoPod[]> {
    const { client, program, dir } = this.#options;
    const template = spec.template as EchoTemplate;
    const secret = (of: string) => client.find(Secret, { namespace, name: of });
    const started: EchoPod[] = [];
    for (let i = 0; i < (spec.replicas ?? 1); i += 1) {
      const pod = await startEcho({ program, dir, namespace, name: `${name}-5d8f7c-${i}`, template, secret });
      started.push(pod);
      const labels = { ...pod.labels };
      const node = Object.keys(NODES)[i % 2] ?? "";
      await client.create(Pod, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: pod.name, namespace, labels },
        spec: { nodeName: node, containers: [{ name: "echo", image: "echo-basic" }] },
      });
      const podIP = `10.99.${Math.floor(this.#addresses / 250)}.${(this.#addresses++ % 250) + 1}`;
      const conditions = [{ type: "Ready", status: "True" }];
      const body = { status: { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions } };
      await client.patch(Pod, { namespace, name: pod.name }, { type: "merge", body }, { subresource: "status" });
    }
    return started;
  }

  /** Every Service gets node ports, as the ingress controller needs them; headless ones cannot have any. */
  async #services(): Promise<void> {
    const { client, setMembers } = this.#options;
    const [{ items }, slices, pods] = await Promise.all([
      client.list(Service),
      client.list(EndpointSlice),
      client.list(Pod),
    ]);
    const byAddress = new Map(pods.items.map((pod) => [pod.status?.podIP ?? "", pod]));
    const members: Record<string, string> = {};
    for (const service of items) {
      const { name, namespace = "" } = service.metadata;
      if (namespace === "default" || service.spec.clusterIP === "None") continue;
      if ((service.spec.type ?? "ClusterIP") === "ClusterIP") {
        await client.patch(Service, { namespace, name }, { type: "merge", body: { spec: { type: "NodePort" } } });
        continue;
      }
      const addresses = slices.items
        .filter((s) => s.metadata.namespace === namespace && s.metadata.labels?.["kubernetes.io/service-name"] === name)
        .flatMap((slice) => (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses));
      const manual = addresses.flatMap((address) => byAddress.get(address)?.metadata.name ?? []);
      const behind = this.#behind(namespace, service.spec.selector, manual);
      for (const { port, targetPort, nodePort } of service.spec.ports ?? []) {
        for (const [i, node] of Object.values(NODES).entries()) {
          const pod = behind[i % Math.max(1, behind.length)];
          const local = pod?.ports[Number(targetPort ?? port)];
          if (local !== undefined) members[`${node}:${nodePort}`] = `127.0.0.1:${local}`;
        }
      }
    }
    setMembers(members);
  }

  #behind(
    namespace: string,
    selector: Readonly<Record<string, string>> | undefined,
    names: readonly string[],
  ): readonly EchoPod[] {
    const own = [...this.#pods].filter(([key]) => key.startsWith(`${namespace}/`)).flatMap(([, pods]) => pods);
    if (!selector) return own.filter(({ name }) => names.includes(name));
    return own.filter(({ labels }) => Object.entries(selector).every(([key, value]) => labels[key] === value));
  }
}
