/** A cluster that the devcloud's own Magnum makes by its own Heat, on servers that run real programs. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import type { Cloud } from "@causeway/openstack";
import { certificatesOf, type Certificates } from "./certificates.ts";
import { followDeployments, type Deployment, type Requester } from "./heat.ts";
import { bootMachine, type ServerMachine } from "./machine.ts";
import { agentUnit, controlPlane, masterFiles } from "./master.ts";
import { prepareCluster, approveServing } from "./source.ts";
import { proxyFiles, startWorker, type Worker } from "./worker.ts";

const MASTERS = 3;
/** Of the first node group, and of the second, whose stack is its own. */
const WORKERS = [3, 2] as const;

export interface OldClusterOf {
  readonly cloud: Cloud;
  readonly ask: Requester;
  /** Disks of its machines. */
  readonly root: string;
  readonly name: string;
  readonly version: string;
  readonly cidr: string;
  readonly programs: string;
  readonly kubelet: string;
  readonly images: string;
  /** Once its network is there, before a server has to be reached. */
  readonly reach: (network: {
    readonly id: string;
    readonly subnet: string;
    readonly floating: string;
  }) => Promise<void>;
}

export interface OldCluster {
  readonly uuid: string;
  readonly masters: readonly ServerMachine[];
  readonly workers: readonly ServerMachine[];
  /** Of an administrator, by the address that Magnum shows: a floating IP. */
  readonly kubeconfig: string;
  readonly floating: string;
  readonly port: string;
  readonly client: KubernetesClient;
  /** Machines whose servers were deleted. */
  stop(): Promise<void>;
}

/** Makes it, with three masters and five workers in two node groups. */
export async function makeOldCluster(of: OldClusterOf): Promise<OldCluster> {
  const discovery = await serveDiscovery();
  const maker = new ClusterMaker(of);
  try {
    return await maker.make(discovery.url);
  } catch (error) {
    await maker.stop();
    throw error;
  } finally {
    discovery.close();
  }
}

class ClusterMaker {
  readonly #of: OldClusterOf;
  readonly #machines: ServerMachine[] = [];
  readonly #running: Worker[] = [];
  #masters: readonly ServerMachine[] = [];
  readonly #workers: ServerMachine[] = [];
  #uuid = "";
  #certificates: Certificates | undefined;
  #kubeconfig = "";
  #floating = "";
  #port = "";
  #client: KubernetesClient | undefined;

  constructor(of: OldClusterOf) {
    this.#of = of;
  }

  async make(discovery: string): Promise<OldCluster> {
    const { ask, name } = this.#of;
    const template = (await ask("POST", "container-infra", "/clustertemplates", this.#template())) as { uuid: string };
    const body = {
      name,
      cluster_template_id: template.uuid,
      master_count: MASTERS,
      node_count: WORKERS[0],
      discovery_url: discovery,
      create_timeout: 60,
    };
    this.#uuid = ((await ask("POST", "container-infra", "/clusters", body)) as { uuid: string }).uuid;
    this.#certificates = certificatesOf(ask, this.#uuid);
    await this.#follow();
    const group = { name: "big", node_count: WORKERS[1], role: "worker" };
    await ask("POST", "container-infra", `/clusters/${this.#uuid}/nodegroups`, group);
    await this.#follow("CREATE_COMPLETE");
    const client = this.#client;
    if (client === undefined) throw new Error("the cluster became complete before its masters were configured");
    return {
      uuid: this.#uuid,
      masters: this.#masters,
      workers: this.#workers,
      kubeconfig: this.#kubeconfig,
      floating: this.#floating,
      port: this.#port,
      client,
      stop: () => this.stop(),
    };
  }

  async stop(): Promise<void> {
    await this.#client?.close();
    for (const each of [...this.#running, ...this.#machines]) await each.stop();
  }

  #template(): object {
    return {
      name: this.#of.name,
      coe: "kubernetes",
      image_id: "fedora-coreos",
      flavor_id: "m1.small",
      master_flavor_id: "m1.small",
      external_network_id: "public",
      network_driver: "flannel",
      dns_nameserver: "172.24.4.1",
      master_lb_enabled: true,
      floating_ip_enabled: false,
      labels: {
        master_lb_floating_ip_enabled: "true",
        kube_tag: this.#of.version,
        availability_zone: "nova",
        cert_manager_api: "true",
        container_runtime: "containerd",
        etcd_tag: "3.5.21",
        fixed_subnet_cidr: this.#of.cidr,
        octavia_provider: "ovn",
        octavia_lb_algorithm: "SOURCE_IP_PORT",
      },
    };
  }

  /** Until Magnum says that the cluster is complete; `before`: it may say so still, of what was before. */
  async #follow(before?: string): Promise<void> {
    const { ask, cloud } = this.#of;
    const servers = async (): Promise<string[]> => (await cloud.compute.servers.all()).map(({ id }) => id);
    const status = async (): Promise<string> => {
      const shown = (await ask("GET", "container-infra", `/clusters/${this.#uuid}`)) as Record<string, string>;
      const { status: is = "", status_reason: reason } = shown;
      if (is.endsWith("_FAILED")) console.log(reason);
      return is === before ? "WAITING" : is;
    };
    await followDeployments(ask, servers, (waiting) => this.#perform(waiting), status);
  }

  async #perform(waiting: readonly Deployment[]): Promise<readonly Deployment[]> {
    const of = (resource: string) => waiting.filter((one) => one.resource === resource);
    const masters = of("master_config_deployment");
    // Members of etcd wait for one another.
    if (masters.length === MASTERS) await this.#configure(masters);
    const cluster = of("kube_cluster_deploy");
    if (cluster.length > 0) await prepareCluster(this.#client);
    const workers = of("node_config_deployment");
    for (const one of workers) await this.#work(one);
    return [...(masters.length === MASTERS ? masters : []), ...cluster, ...workers];
  }

  async #serverOf({ serverId }: Deployment, address: string) {
    const { id, name } = await this.#of.cloud.compute.servers.get(serverId);
    return { id, name, address };
  }

  async #configure(deployments: readonly Deployment[]): Promise<void> {
    const [first] = deployments;
    const { CLUSTER_NETWORK: id = "", CLUSTER_SUBNET: subnet = "" } = first?.parameters ?? {};
    const { KUBE_API_PUBLIC_ADDRESS: floating = "" } = first?.parameters ?? {};
    this.#floating = floating;
    await this.#of.reach({ id, subnet, floating });
    const servers = await Promise.all(
      deployments.map((one) => this.#serverOf(one, one.parameters["KUBE_NODE_IP"] ?? "")),
    );
    const { root, programs } = this.#of;
    for (const [index, { parameters }] of deployments.entries()) {
      const server = servers[index];
      if (server === undefined || this.#certificates === undefined) continue;
      const files = await masterFiles({ parameters, certificates: this.#certificates, programs, masters: servers });
      this.#machines.push(await bootMachine(root, server, files));
    }
    this.#masters = [...this.#machines];
    for (const unit of ["heat-container-agent", "etcd", ...controlPlane])
      await Promise.all(this.#masters.map((master) => master.run(`systemctl start ${unit}`)));
    const text = await this.#masters[0]?.run("cat /etc/kubernetes/admin.conf");
    const { KUBE_API_PORT: port = "" } = first?.parameters ?? {};
    this.#port = port;
    this.#kubeconfig = (text ?? "").replace(`https://127.0.0.1:${port}`, `https://${floating}:${port}`);
    this.#client = createClient(loadKubeconfig({ text: this.#kubeconfig }));
  }

  async #work(deployment: Deployment): Promise<void> {
    const { root, kubelet, images } = this.#of;
    const { parameters } = deployment;
    const server = await this.#serverOf(deployment, parameters["KUBE_NODE_IP"] ?? "");
    if (this.#certificates === undefined || this.#client === undefined) throw new Error("a worker before its masters");
    const certificates = this.#certificates;
    const proxy = await proxyFiles({ server, certificates, parameters, kubelet });
    const machine = await bootMachine(root, server, { ...agentUnit, ...proxy });
    this.#machines.push(machine);
    this.#workers.push(machine);
    await machine.run("systemctl start heat-container-agent kube-proxy");
    this.#running.push(await startWorker({ root, server, certificates, parameters, kubelet, images }));
    await approveServing(this.#client, server.name);
  }
}

/** What Magnum asks a discovery service of etcd for: the size of the cluster. */
async function serveDiscovery(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ action: "get", node: { key: "/_config/size", value: String(MASTERS) } }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/cluster`, close: () => void server.close() };
}
