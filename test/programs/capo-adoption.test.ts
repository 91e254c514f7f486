/**
 * A cluster of Cluster API's own OpenStack provider, adopted by ours: the same objects, the same cloud, another
 * program.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { installManagers, type Managers } from "./cluster-api/install.ts";
import { INFRASTRUCTURE } from "./cluster-api/infrastructure.ts";
import { openStackCluster } from "./cluster-api/openstack.ts";
import { get, items, until, type Json } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { freePort } from "../support/free-ports.ts";
import { programs } from "./programs.ts";
import { launch, type RunningProgram } from "./run.ts";
import { startServer, type Server } from "./servers.ts";

const { clusterApi, capo, kubectls } = programs();
const minutes = 60_000;

describe("a cluster of Cluster API's OpenStack provider", { timeout: 10 * minutes, retry: 0 }, () => {
  if ("reason" in clusterApi) test.skip(`all (${clusterApi.reason})`);
  else if ("reason" in capo) test.skip(`all (${capo.reason})`);
  else scenario(clusterApi.dir, capo.dir);
});

const CAUSEWAY = join(import.meta.dirname, "../../node_modules/.bin/causeway");

function scenario(core: string, provider: string): void {
  let server: Server;
  let simulator: Simulator;
  let managers: Managers | undefined;
  let k: Kubectl;
  let ours: RunningProgram | undefined;

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
    await ours?.stop();
    await Promise.all(managers?.running.map((one) => one.stop()) ?? []);
    await simulator?.close();
    await server?.close();
  });

  const v1beta2 = `v1beta2.${INFRASTRUCTURE}`;
  const changes = (from: number) =>
    simulator.calls.slice(from).filter((call) => call.method !== "GET" && call.service !== "identity");

  test("a cluster of upstream's provider is adopted without a changing call to the cloud, given one more machine, and deleted without a trace", async () => {
    const name = "adopted";
    const before = simulator.inventory("demo");
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
    await managers?.running.at(-1)?.stop();
    for (const kind of ["validating", "mutating"])
      await k.run("delete", `${kind}webhookconfiguration`, `capo-${kind}-webhook-configuration`, "--ignore-not-found");
    const made = simulator.inventory("demo");
    const calls = simulator.calls.length;
    ours = launch(CAUSEWAY, [
      "run",
      "cluster-api-openstack",
      `--kubeconfig=${server.kubeconfig}`,
      "--install-crds",
      `--webhook-port=${await freePort()}`,
      "--health-addr=0",
      "--diagnostics-address=0",
    ]);
    await until(
      "ours to have read both",
      async () => {
        const { metadata } = (await get(k, `openstackclusters.${v1beta2}`, name)) as {
          metadata?: { annotations?: Record<string, string> };
        };
        const [machine] = await items(k, `openstackmachines.${v1beta2}`);
        const { conditions = [] } = (machine?.["status"] ?? {}) as { conditions?: { type: string; reason: string }[] };
        const isRead = conditions.some((c) => c.type === "InstanceReady" && c.reason === "InstanceReady");
        return (metadata?.annotations?.["causeway.dev/cloud-identity"] !== undefined && isRead) || conditions;
      },
      2 * minutes,
    );
    expect(changes(calls).map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    expect(simulator.inventory("demo")).toEqual(made);

    for (const one of extraMachine(name)) await k.feed(one, "create", "-f", "-");
    const isExtra = (line: string) => line.startsWith("server ") && line.includes(`${name}-extra`);
    await until(
      "a server of the new machine",
      () => Promise.resolve(simulator.inventory("demo").some(isExtra)),
      2 * minutes,
    );
    const { status } = (await get(k, `openstackclusters.${v1beta2}`, name)) as { status?: { conditions?: Json[] } };
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "NetworkReady", status: "True" }));

    await k.run("delete", "cluster", name, "--timeout=180s");
    expect(simulator.inventory("demo")).toEqual(before);
  });
}

/** A Machine with bootstrap data of its own. */
function extraMachine(cluster: string): Json[] {
  const name = `${cluster}-extra`;
  const labels = { "cluster.x-k8s.io/cluster-name": cluster };
  return [
    { apiVersion: "v1", kind: "Secret", metadata: { name, labels }, stringData: { value: "#cloud-config" } },
    {
      apiVersion: `${INFRASTRUCTURE}/v1beta1`,
      kind: "OpenStackMachine",
      metadata: { name, labels },
      spec: { flavor: "m1.small", image: { filter: { name: "cirros" } } },
    },
    {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: { name, labels },
      spec: {
        clusterName: cluster,
        version: "v1.34.4",
        bootstrap: { dataSecretName: name },
        infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: "OpenStackMachine", name },
      },
    },
  ];
}
