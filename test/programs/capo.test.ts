/** Cluster API's own OpenStack provider between the embedded API server and the simulated cloud. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { installManagers, type Managers } from "./cluster-api/install.ts";
import { openStackCluster } from "./cluster-api/openstack.ts";
import { get, items, until, type Json } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { startServer, type Server } from "./servers.ts";

const { clusterApi, capo, kubectls } = programs();
const minutes = 60_000;

describe("Cluster API's OpenStack provider", { timeout: 5 * minutes }, () => {
  if ("reason" in clusterApi) test.skip(`all (${clusterApi.reason})`);
  else if ("reason" in capo) test.skip(`all (${capo.reason})`);
  else scenario(clusterApi.dir, capo.dir);
});

/** "loadbalancer", "port" and so on: each kind that the project has, once. */
const kindsOf = (inventory: readonly string[]): readonly string[] => [
  ...new Set(inventory.map((line) => line.split(" ")[0] ?? "")),
];

function scenario(core: string, provider: string): void {
  let server: Server;
  let simulator: Simulator;
  let managers: Managers | undefined;
  let k: Kubectl;
  let attempt = 0;

  beforeAll(async () => {
    server = await startServer("causeway");
    simulator = await startSimulator();
    k = kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "default", minor: 34 });
    const everywhere = kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "", minor: 34 });
    const place = { programs: core, kubeconfig: server.kubeconfig, dir: server.dir };
    managers = await installManagers(everywhere, place, [
      { programs: provider, name: "capo", needs: ["orc"], flags: {} },
    ]);
  }, 4 * minutes);
  afterAll(async () => {
    await Promise.all(managers?.running.map((one) => one.stop()) ?? []);
    await simulator?.close();
    await server?.close();
  });

  test("upstream's provider creates a Cluster with a load balancer, and deletes it with nothing left in the cloud", async () => {
    const before = simulator.inventory("demo");
    const name = `lb-${(attempt += 1)}`;
    const asked = { name, clouds: simulator.cloudsYaml, cloud: "simulator" };
    for (const one of openStackCluster(asked)) await k.feed(one, "create", "-f", "-");
    await until(
      "a server of the control plane",
      async () => {
        const [machine] = await items(k, "openstackmachines");
        return (machine?.["status"] as Json | undefined)?.["ready"] === true || machine?.["status"];
      },
      2 * minutes,
    );
    const made = await get(k, "openstackcluster", name);
    const { apiServerLoadBalancer } = made["status"] as { apiServerLoadBalancer: Json };
    expect((made["spec"] as Json)["controlPlaneEndpoint"]).toEqual({ host: apiServerLoadBalancer["ip"], port: 6443 });
    const created = simulator.inventory("demo").filter((line) => !before.includes(line));
    expect(kindsOf(created)).toEqual(
      expect.arrayContaining(["loadbalancer", "listener", "pool", "member", "healthmonitor", "floatingip", "server"]),
    );
    await k.run("delete", "cluster", name, "--timeout=120s");
    expect(simulator.inventory("demo")).toEqual(before);
  });
}
