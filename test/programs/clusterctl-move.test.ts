/**
 * `clusterctl move`, unmodified, of a running Cluster of our managers from one management cluster to another, while the
 * managers of both work.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, loadKubeconfig, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { certManager } from "./cluster-api/cert-manager.ts";
import { apply } from "./cluster-api/install.ts";
import { CAUSEWAY, ownCluster, startOwn } from "./cluster-api/own.ts";
import { playWorkload } from "./cluster-api/played-workload.ts";
import { conditionsOf, inventory, items, nameOf, until, type Json } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { execute, type RunningProgram } from "./run.ts";
import { servers, startServer, type Server } from "./servers.ts";

const { clusterApi, kubectls } = programs();
const minutes = 60_000;
const KINDS =
  "clusters,machines,machinesets,machinedeployments,kubeadmconfigs,kubeadmconfigtemplates,openstackclusters,openstackmachines,openstackmachinetemplates";

interface Side {
  readonly server: Server;
  readonly k: Kubectl;
  readonly client: KubernetesClient;
  readonly own: RunningProgram;
}

describe.each(servers())("clusterctl move on $name", { timeout: 8 * minutes, retry: 0 }, ({ name, missing }) => {
  if ("reason" in clusterApi) test.skip(`all (${clusterApi.reason})`);
  else if (missing !== undefined) test.skip(`all (${missing})`);
  else scenario(name, join(clusterApi.dir, "clusterctl"));
});

function scenario(on: Server["name"], clusterctl: string): void {
  const closing: (() => unknown)[] = [];
  let simulator: Simulator;
  let inside: Server;
  let workload: KubernetesClient;
  let from: Side;
  let to: Side;

  async function run({ dir, kubeconfig }: Server, args: readonly string[]): Promise<void> {
    const env = { HOME: dir, XDG_CONFIG_HOME: dir, CLUSTERCTL_DISABLE_VERSIONCHECK: "true", KUBECONFIG: kubeconfig };
    const { code, stdout, stderr } = await execute(clusterctl, args, { env, timeout: 3 * minutes });
    if (code !== 0) throw new Error(`clusterctl ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  }

  /** A management cluster with our providers by clusterctl, and their managers next to the test. */
  async function side(config: string): Promise<Side> {
    const server = await startServer(on);
    closing.push(() => server.close());
    const k = kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "default", minor: 34 });
    await apply(kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "", minor: 34 }), certManager);
    await k.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
    const kubeadm = ["--bootstrap", "kubeadm:v0.1.0", "--control-plane", "kubeadm:v0.1.0"];
    const rest = ["--core", "cluster-api:v0.1.0", "--infrastructure", "openstack:v0.1.0"];
    await run(server, ["init", "--config", config, ...kubeadm, ...rest]);
    // Of the release's Deployments, which nothing starts here.
    await k.run("delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "--all");
    const own = await startOwn(server.kubeconfig);
    closing.push(() => own.stop());
    const client = createClient(loadKubeconfig({ path: server.kubeconfig }));
    closing.push(() => client.close());
    return { server, k, client, own };
  }

  beforeAll(async () => {
    [inside, simulator] = await Promise.all([startServer("causeway"), startSimulator()]);
    closing.push(
      () => inside.close(),
      () => simulator.close(),
    );
    workload = createClient(loadKubeconfig({ path: inside.kubeconfig }));
    closing.push(() => workload.close());
    const repository = join(inside.dir, "providers");
    const made = spawnSync(CAUSEWAY, ["generate", "provider", repository], { encoding: "utf8" });
    expect([made.status, made.stderr]).toEqual([0, ""]);
    const config = join(repository, "clusterctl.yaml");
    [from, to] = await Promise.all([side(config), side(config)]);
  }, 10 * minutes);
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  const changes = (since: number) =>
    simulator.calls
      .slice(since)
      .filter(({ method, service }) => method !== "GET" && service !== "identity")
      .map(({ method, path }) => `${method} ${path}`);
  const held = ({ k }: Side) => inventory(k, `${KINDS},secrets`);
  const ids = async ({ k }: Side) =>
    (await items(k, "machines")).map((one) => `${nameOf(one)} ${String((one["spec"] as Json)["providerID"])}`);

  /** Waits, and says what the managers printed last where it is not in time. */
  async function seen(what: string, check: () => Promise<unknown>): Promise<void> {
    await until(what, check, 2 * minutes).catch((error: unknown) => {
      const said = [from, to].map(({ own }) => own.output().slice(-3000));
      throw new Error(`${String(error)}\n${said.join("\n--\n")}`);
    });
  }

  /** That many Machines with Nodes, and a MachineDeployment that is available. */
  const works = async ({ k }: Side, count: number): Promise<unknown> => {
    const machines = await items(k, "machines");
    const phases = machines.map(({ status }) => (status as Json | undefined)?.["phase"]);
    const [deployment = {}] = await items(k, "machinedeployments");
    const conditions = conditionsOf(deployment);
    const isAvailable = conditions.includes("Available=True/Available");
    return (
      (phases.length === count && phases.every((phase) => phase === "Running") && isAvailable) || [phases, conditions]
    );
  };

  test("a Cluster is moved without a changing call to the cloud, continues there, and is deleted without a trace", async () => {
    const before = simulator.inventory("demo");
    const kubeconfig = readFileSync(inside.kubeconfig, "utf8");
    const { authority } = inside.target;
    const asked = { name: "web", clouds: simulator.cloudsYaml, cloud: "simulator", kubeconfig, authority, replicas: 2 };
    for (const one of ownCluster(asked)) await from.k.feed(one, "create", "-f", "-");
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "default" } };
    await workload.apply(ServiceAccount, account, { fieldManager: "test" });
    let endPlay = playWorkload({ management: from.client, workload, simulator });
    closing.push(() => endPlay().catch(() => {}));
    await seen("a Cluster of three Machines", () => works(from, 3));
    const there = await held(from);
    const machines = await ids(from);
    const made = simulator.inventory("demo");
    const calls = simulator.calls.length;

    await endPlay();
    await run(from.server, ["move", "--to-kubeconfig", to.server.kubeconfig, "--namespace", "default"]);
    expect(await held(to)).toEqual(there);
    expect(await items(from.k, KINDS)).toEqual([]);
    await seen("the Cluster over there", () => works(to, 3));
    // clusterctl carries no status: what is there, the managers over there have written.
    const written = {
      "clusters,machines": "Paused=False/NotPaused",
      "openstackclusters,openstackmachines": "Ready=True/Ready",
    };
    for (const [kinds, condition] of Object.entries(written)) {
      await seen(condition, async () => {
        const others = (await items(to.k, kinds)).filter((one) => !conditionsOf(one).includes(condition));
        return others.length === 0 || others.map((one) => [one["kind"], conditionsOf(one)]);
      });
    }
    expect(await ids(to)).toEqual(machines);
    expect(changes(calls)).toEqual([]);
    expect(simulator.inventory("demo")).toEqual(made);

    endPlay = playWorkload({ management: to.client, workload, simulator });
    await to.k.run("scale", "machinedeployment", "web-md-0", "--replicas=3");
    await seen("a fourth Machine", () => works(to, 4));
    await to.k.run("delete", "cluster", "web", "--timeout=180s");
    expect(simulator.inventory("demo")).toEqual(before);
    // Templates and Secrets are left to the garbage collector of a whole cluster.
    const objects =
      "clusters,machines,machinesets,machinedeployments,kubeadmconfigs,openstackclusters,openstackmachines";
    expect(await items(to.k, objects)).toEqual([]);
  });
}
