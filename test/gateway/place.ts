import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import {
  createClient,
  CustomResourceDefinition,
  loadKubeconfig,
  Node,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { GatewayClass } from "@causeway/octavia-ingress";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { parseAllDocuments, stringify } from "yaml";
import { launch, type RunningProgram } from "../programs/run.ts";
import { NODES, PodPlayer } from "./pods.ts";
import type { GatewayPrograms } from "./programs.ts";

const MAIN = resolve(import.meta.dirname, "../../packages/causeway/src/main.ts");
export const GATEWAY_CLASS = "octavia";
/** Virtual addresses are of loopback, so that the suite's own clients reach them. */
const CIDR = "127.88.0.0/16";

export interface GatewayPlace {
  readonly dir: string;
  readonly kubeconfig: string;
  readonly client: KubernetesClient;
  readonly simulator: Simulator;
  readonly controller: RunningProgram;
  close(): Promise<void>;
}

/** An API server with the Gateway API, a cloud whose load balancers serve, the controller between them, and pods. */
export async function openPlace(programs: GatewayPrograms): Promise<GatewayPlace> {
  const dir = mkdtempSync(join(tmpdir(), "gateway-"));
  const server = await startApiServer();
  const simulator = await startSimulator({ profile: "instant", dataPath: true });
  const text = await server.management.kubeconfig();
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const client = createClient(loadKubeconfig({ text }));
  await installKinds(client, programs.crds);
  await addNodes(client);
  await addClass(client);
  const config = join(dir, "config.yaml");
  writeFileSync(config, await configFor(simulator), { mode: 0o600 });
  const args = ["run", "octavia-ingress", "--config", config, "--kubeconfig", kubeconfig, "--leader-elect=false"];
  const controller = launch(process.execPath, [MAIN, ...args]);
  const dataPath = simulator.dataPath;
  if (!dataPath) throw new Error("the cloud has no data path");
  const setMembers = (members: Readonly<Record<string, string>>): void => dataPath.setMembers(members);
  const pods = new PodPlayer({ client, program: programs.echo, dir, setMembers });
  pods.start();
  await classIsAccepted(client);
  return {
    dir,
    kubeconfig,
    client,
    simulator,
    controller,
    async close() {
      await pods.stop();
      await controller.stop();
      await client.close();
      await simulator.close();
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function installKinds(client: KubernetesClient, folder: string): Promise<void> {
  for (const file of readdirSync(folder).filter((name) => !name.includes("kustomization"))) {
    for (const document of parseAllDocuments(readFileSync(join(folder, file), "utf8"))) {
      const object = document.toJS() as KubeObject | null;
      if (object?.kind === CustomResourceDefinition.kind)
        await client.create(CustomResourceDefinition, object as CustomResourceDefinition);
    }
  }
  for (let i = 0; i < 500; i += 1) {
    const { items } = await client.list(CustomResourceDefinition);
    const settled = items.every((crd) =>
      (crd.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions?.some(
        ({ type, status }) => type === "Established" && status === "True",
      ),
    );
    if (settled) return;
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function addNodes(client: KubernetesClient): Promise<void> {
  for (const [name, address] of Object.entries(NODES)) {
    await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
    const conditions = [{ type: "Ready", status: "True", reason: "Played", message: "" }];
    const body = { status: { addresses: [{ type: "InternalIP", address }], conditions } };
    await client.patch(Node, { namespace: "", name }, { type: "merge", body }, { subresource: "status" });
  }
}

async function addClass(client: KubernetesClient): Promise<void> {
  const spec = { controllerName: "openstack.org/octavia-gateway" };
  const apiVersion = "gateway.networking.k8s.io/v1";
  await client.create(GatewayClass, { apiVersion, kind: "GatewayClass", metadata: { name: GATEWAY_CLASS }, spec });
}

/** The suite reads the features of the class when it starts. */
async function classIsAccepted(client: KubernetesClient): Promise<void> {
  for (let i = 0; i < 600; i += 1) {
    const { status } = await client.get(GatewayClass, { namespace: "", name: GATEWAY_CLASS });
    if ((status?.supportedFeatures ?? []).length > 0) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("the controller does not accept the GatewayClass");
}

/** The configuration file of the controller. */
async function configFor({ cloudsYaml }: Simulator): Promise<string> {
  const given = loadCloudsYaml({ text: cloudsYaml, cloud: "simulator" });
  const cloud = connectCloud(given);
  const network = await cloud.network.networks.create({ name: "gateways" });
  const subnet = await cloud.network.subnets.create({
    name: "gateways",
    network_id: network.id,
    ip_version: 4,
    cidr: CIDR,
    allocation_pools: [{ start: "127.88.0.10", end: "127.88.9.250" }],
  });
  await cloud.close();
  return stringify({
    "cluster-name": "conformance",
    openstack: {
      "auth-url": given.authUrl,
      username: "demo",
      password: "devcloud",
      "project-name": "demo",
      "user-domain-name": "Default",
      "project-domain-name": "Default",
    },
    octavia: { provider: "amphora", "subnet-id": subnet.id },
  });
}
