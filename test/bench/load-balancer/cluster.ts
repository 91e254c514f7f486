import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createClient,
  loadKubeconfig,
  Node,
  renderKubeconfig,
  Service,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { Server } from "@causeway/openstack";
import { makeNamespace, type Subject } from "../apiserver/subject.ts";
import { inParallel } from "../in-parallel.ts";

/** A Kubernetes API with nodes and Services, without any controller but the one under measurement. */
export interface Cluster {
  readonly client: KubernetesClient;
  /** The path of a file. */
  readonly kubeconfig: string;
  /** Nodes as they are once they have been initialised: nothing is to be done for them. */
  addNodes(servers: readonly Server[]): Promise<void>;
  removeNodes(names: readonly string[]): Promise<void>;
  addServices(names: readonly string[], ports: number): Promise<void>;
  removeServices(names: readonly string[]): Promise<void>;
  /** How many Services have an address. */
  served(): Promise<number>;
  services(): Promise<readonly Service[]>;
}

/** Of a server that a kubeconfig reaches. */
export async function clusterOf(kubeconfig: string): Promise<Cluster> {
  const client = createClient(loadKubeconfig({ path: kubeconfig }));
  const services = async (): Promise<readonly Service[]> => (await client.list(Service)).items;
  return {
    client,
    kubeconfig,
    addNodes: (servers) => inParallel(servers, (server) => client.create(Node, nodeOf(server))),
    removeNodes: (names) => inParallel(names, (name) => client.delete(Node, { namespace: "", name })),
    addServices: (names, ports) => inParallel(names, (name) => client.create(Service, serviceOf(name, ports))),
    removeServices: (names) => inParallel(names, (name) => client.delete(Service, { namespace: "default", name })),
    services,
    served: async () => (await services()).filter((s) => s.status?.loadBalancer?.ingress?.[0] !== undefined).length,
  };
}

/** Of a server that certificates reach: writes its kubeconfig. */
export async function clusterOn(subject: Subject): Promise<Cluster> {
  await makeNamespace(subject, "default");
  const read = (name: string): string => readFileSync(join(subject.files, name), "utf8");
  const text = renderKubeconfig({
    server: subject.url,
    ca: read("ca.pem"),
    certificate: read("client.pem"),
    key: read("client-key.pem"),
    clusterName: "bench",
    userName: "bench",
  });
  const path = join(subject.files, "kubeconfig");
  writeFileSync(path, text, { mode: 0o600 });
  return clusterOf(path);
}

function nodeOf(server: Server): Node {
  const address = Object.values(server.addresses).flat()[0]?.addr ?? "";
  const now = new Date().toISOString();
  const labels = {
    "topology.kubernetes.io/region": "RegionOne",
    "topology.kubernetes.io/zone": "nova",
    "failure-domain.beta.kubernetes.io/region": "RegionOne",
    "failure-domain.beta.kubernetes.io/zone": "nova",
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: server.name, labels },
    spec: { providerID: `openstack:///${server.id}` },
    status: {
      addresses: [
        { type: "InternalIP", address },
        { type: "Hostname", address: server.name },
      ],
      conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: now, lastTransitionTime: now }],
    },
  };
}

function serviceOf(name: string, ports: number): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: {
      type: "LoadBalancer",
      ports: Array.from({ length: ports }, (_, i) => ({ name: `p${i}`, port: 8000 + i, protocol: "TCP" as const })),
    },
  };
}
