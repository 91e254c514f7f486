/** Upstream's Cluster API managers with their webhooks, and clusterctl, on both servers. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installManagers, type Managers } from "./cluster-api/install.ts";
import { stub } from "./cluster-api/infrastructure.ts";
import { cluster, controlPlaneMachine, machineDeployment } from "./cluster-api/objects.ts";
import { bringUp, conditionsOf, get, items, until, type Json } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { servers, startServer, type Server } from "./servers.ts";

const { clusterApi, kubectls } = programs();
const minutes = 60_000;

for (const { name, missing } of servers())
  describe(`Cluster API on ${name}`, { timeout: 2 * minutes }, () => {
    const reason = "reason" in clusterApi ? clusterApi.reason : missing;
    if (reason !== undefined || "reason" in clusterApi) test.skip(`all (${reason})`);
    else scenario(name, clusterApi.dir);
  });

function scenario(name: Server["name"], dir: string): void {
  let server: Server;
  let managers: Managers | undefined;
  let k: Kubectl;

  beforeAll(async () => {
    server = await startServer(name);
    k = kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "default", minor: 34 });
    const everywhere = kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "", minor: 34 });
    managers = await installManagers(everywhere, { programs: dir, kubeconfig: server.kubeconfig, dir: server.dir });
  }, 3 * minutes);
  afterAll(async () => {
    await Promise.all(managers?.running.map((one) => one.stop()) ?? []);
    await server?.close();
  });

  test("a Cluster and a MachineDeployment: defaulted, provisioned, available", async () => {
    const { url } = server.target;
    const { hostname: host, port } = new URL(url);
    const kubeconfig = { value: base64(readFileSync(server.kubeconfig, "utf8")) };
    const labels = { "cluster.x-k8s.io/cluster-name": "demo" };
    const secret = (suffix: string, data: Json): Json => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `demo-${suffix}`, labels },
      type: "cluster.x-k8s.io/secret",
      data,
    });
    const all = [
      secret("kubeconfig", kubeconfig),
      secret("boot", { value: base64("#cloud-config") }),
      stub("StubCluster", "demo"),
      stub("StubMachineTemplate", "demo", { template: { spec: {} } }),
      cluster("demo", { host, port: Number(port) }),
      stub("StubMachine", "demo-control-plane"),
      controlPlaneMachine("demo"),
      machineDeployment("demo", 2),
    ];
    for (const one of all) await k.feed(one, "create", "-f", "-");
    const provisioned = JSON.stringify({ status: { initialization: { provisioned: true } } });
    await k.run("patch", "stubcluster", "demo", "--subresource=status", "--type=merge", "-p", provisioned);
    const made = await get(k, "machinedeployment", "demo");
    expect(made["spec"]).toMatchObject({
      selector: {
        matchLabels: { "cluster.x-k8s.io/cluster-name": "demo", "cluster.x-k8s.io/deployment-name": "demo" },
      },
      template: { spec: { version: "v1.34.4" } },
    });
    await until("two machines of infrastructure", async () => (await items(k, "stubmachines")).length === 3);
    await bringUp(k);
    await until("an available MachineDeployment", async () => {
      const conditions = conditionsOf(await get(k, "machinedeployment", "demo"));
      return conditions.includes("Available=True/Available") || conditions;
    });
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
