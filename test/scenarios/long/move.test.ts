/** `causeway move` between two management clusters whose controllers run on one cloud; neither changes it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster, Machine, OpenStackCluster, OpenStackMachine } from "@causeway/api";
import {
  createClient,
  loadKubeconfig,
  ownerReference,
  Secret,
  type Condition,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { causeway, eventually, TIMEOUT, type Started } from "../../support/processes.ts";
import { describeCall, isWrite, normalised } from "../../support/stage.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

let [dir, cloud] = ["", {} as Simulator];
const started: Started[] = [];
const clients: KubernetesClient[] = [];
const key = (name: string) => ({ namespace: "default", name });
const labels = { "cluster.x-k8s.io/cluster-name": "web" };

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "causeway-move-"));
  cloud = await startSimulator({ profile: "instant" });
  writeFileSync(join(dir, "clouds.yaml"), cloud.cloudsYaml, { mode: 0o600 });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(started.map((each) => each.stop("SIGKILL")));
  await cloud.close();
  rmSync(dir, { recursive: true, force: true });
});

const kubeconfigOf = (name: string): string => join(dir, name, "management.kubeconfig");
function run(...args: string[]): Started {
  const running = causeway(args, { env: { OS_CLIENT_CONFIG_FILE: join(dir, "clouds.yaml") } });
  started.push(running);
  return running;
}

/** A management cluster with all controllers, on the folder of its name. */
async function manage(name: string): Promise<{ running: Started; client: KubernetesClient }> {
  const place = ["--cloud", "simulator", "--advertise-address", "127.0.0.1", "--state", join(dir, name)];
  const running = run("up", ...place);
  await running.until(/management API \S+\n/);
  const client = createClient(loadKubeconfig({ path: kubeconfigOf(name) }));
  clients.push(client);
  return { running, client };
}

/** A cluster with its network and one server, and without a control plane: none of its data is in the cloud's way. */
async function createCluster(client: KubernetesClient): Promise<void> {
  const infrastructure = (kind: string, name: string) => ({
    apiGroup: "infrastructure.cluster.x-k8s.io",
    kind,
    name,
  });
  const secret = (name: string, entry: string, text: string, more: object = {}): Secret => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...key(name), ...more },
    data: { [entry]: Buffer.from(text).toString("base64") },
  });
  await client.create(Secret, secret("web-cloud", "clouds.yaml", cloud.cloudsYaml));
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: key("web"),
    spec: { infrastructureRef: infrastructure("OpenStackCluster", "web") },
  });
  await client.create(OpenStackCluster, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackCluster",
    metadata: { ...key("web"), labels, ownerReferences: [ownerReference(cluster, { controller: true })] },
    spec: {
      identityRef: { name: "web-cloud", cloudName: "simulator" },
      managedSubnets: [{ cidr: "10.6.0.0/24" }],
      managedSecurityGroups: {},
      apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
    },
  });
  const machine = await client.create(Machine, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { ...key("web-0"), labels, ownerReferences: [ownerReference(cluster)] },
    spec: {
      clusterName: "web",
      version: "v1.34.0",
      bootstrap: { dataSecretName: "web-0" },
      infrastructureRef: infrastructure("OpenStackMachine", "web-0"),
    },
  });
  const owned = { ownerReferences: [ownerReference(machine, { controller: true })] };
  await client.create(Secret, secret("web-0", "value", "#cloud-config\n", owned));
  await client.create(OpenStackMachine, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackMachine",
    metadata: { ...key("web-0"), labels, ...owned },
    spec: { flavor: { filter: { name: "m1.tiny" } }, image: { filter: { name: "cirros" } } },
  });
}

/** The server's ID, once a management cluster has it, acts, and says that all is well. */
const ready = (client: KubernetesClient): Promise<string> =>
  eventually(TIMEOUT, async () => {
    const [machine, { spec, status }] = [
      await client.get(Machine, key("web-0")),
      await client.get(OpenStackMachine, key("web-0")),
    ];
    const isAt = (conditions: unknown, type: string, is: string) =>
      ((conditions ?? []) as Condition[]).some((each) => each.type === type && each.status === is);
    const acts = isAt(machine.status?.conditions, "Paused", "False");
    return acts && isAt(status?.conditions, "Ready", "True") ? spec.providerID : undefined;
  });

/** The changing calls to the cloud so far, once none has come for a while. */
async function changes(): Promise<string[]> {
  const all = (): string[] => cloud.calls.filter(isWrite).map(describeCall);
  for (let before = -1; before !== all().length;) {
    before = all().length;
    await new Promise((done) => setTimeout(done, 1_000));
  }
  return all();
}

test("a cluster moves with all it has, and neither side asks the cloud for a change, also when the source starts again", async () => {
  const project = normalised(cloud.inventory("demo"));
  const [source, target] = [await manage("source"), await manage("target")];
  await createCluster(source.client);
  const server = await ready(source.client);
  const made = await changes();
  expect(made).toContain("POST compute/v2.1/servers");
  const inventory = cloud.inventory("demo");

  const moved = run("move", "--kubeconfig", kubeconfigOf("source"), "--to-kubeconfig", kubeconfigOf("target"));
  expect([await moved.ended, moved.output()]).toEqual([
    0,
    expect.stringMatching(/moved 1 clusters with 6 objects: web/),
  ]);
  expect(await ready(target.client)).toBe(server);
  await source.running.stop("SIGKILL");
  const again = await manage("source");
  expect(await again.client.find(Cluster, key("web"))).toBeUndefined();
  expect(await again.client.find(OpenStackMachine, key("web-0"))).toBeUndefined();
  expect((await changes()).slice(made.length)).toEqual([]);
  expect(cloud.inventory("demo")).toEqual(inventory);

  // The target is in charge: it deletes what the source made.
  await target.client.delete(Cluster, key("web"));
  await eventually(TIMEOUT, async () => (await target.client.find(Cluster, key("web"))) === undefined);
  await eventually(
    TIMEOUT,
    () => JSON.stringify(normalised(cloud.inventory("demo"))) === JSON.stringify(project) || undefined,
  );
});
