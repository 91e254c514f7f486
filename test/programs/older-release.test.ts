/** A running Cluster of an older release of our managers that those of these sources continue with. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createClient, loadKubeconfig, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePorts } from "../support/free-ports.ts";
import { ownCluster, startOwn } from "./cluster-api/own.ts";
import { playWorkload } from "./cluster-api/played-workload.ts";
import { items, nameOf, until, type Json } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { launch, type RunningProgram } from "./run.ts";
import { startServer, type Server } from "./servers.ts";

const minutes = 60_000;
const OLDER = "CAUSEWAY_OLDER_RELEASE";
const folder = process.env[OLDER];
const program = join(resolve(folder ?? "."), "node_modules/.bin/causeway");
const missing =
  folder !== undefined && existsSync(program)
    ? undefined
    : `set ${OLDER} to a checkout of an older commit in which npm ci has run: git worktree add FOLDER COMMIT`;

describe("a Cluster of an older release", { timeout: 15 * minutes, retry: 0 }, () => {
  if (missing !== undefined) test.skip(`all (${missing})`);
  else scenario();
});

function scenario(): void {
  const closing: (() => unknown)[] = [];
  let simulator: Simulator;
  let [server, inside]: Partial<Server>[] = [];
  let [client, workload]: KubernetesClient[] = [];
  let k: Kubectl;

  beforeAll(async () => {
    const [first, second, cloud] = await Promise.all([
      startServer("causeway"),
      startServer("causeway"),
      startSimulator(),
    ]);
    [server, inside, simulator] = [first, second, cloud];
    [client, workload] = [first, second].map(({ kubeconfig }) => createClient(loadKubeconfig({ path: kubeconfig })));
    closing.push(
      () => simulator.close(),
      () => first.close(),
      () => second.close(),
      () => client?.close(),
      () => workload?.close(),
    );
    k = kubectlOn(first, programs().kubectls[0] ?? "kubectl", { namespace: "default", minor: 34 });
  }, 10 * minutes);
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  /** Both of the older release, as two processes: it may be older than `run several`. */
  async function startOlder(kubeconfig: string): Promise<readonly RunningProgram[]> {
    const [first = 0, second = 0] = await freePorts(2);
    const common = [`--kubeconfig=${kubeconfig}`, "--install-crds"];
    const core = ["--leader-elect=false", `--webhook-port=${first}`, "--diagnostics-port=0"];
    const provider = [`--webhook-port=${second}`, "--health-addr=0", "--diagnostics-address=0"];
    const both = [
      launch(program, ["run", "cluster-api", ...common, ...core]),
      launch(program, ["run", "cluster-api-openstack", ...common, ...provider]),
    ];
    closing.push(...both.map((one) => () => one.stop()));
    return both;
  }

  /** "name providerID" of the Machines, when that many run. */
  async function running(count: number): Promise<readonly string[]> {
    let names: readonly string[] = [];
    await until(
      `${count} Machines that run`,
      async () => {
        const machines = await items(k, "machines");
        names = machines.map((one) => `${nameOf(one)} ${String((one["spec"] as Json)["providerID"])}`);
        const phases = machines.map(({ status }) => (status as Json | undefined)?.["phase"]);
        return (phases.length === count && phases.every((phase) => phase === "Running")) || phases;
      },
      5 * minutes,
    );
    return names;
  }

  test("the Machines remain, and only what a new one needs is created in the cloud", async () => {
    const { kubeconfig } = server as Server;
    const { target } = inside as Server;
    const before = simulator.inventory("demo");
    const older = await startOlder(kubeconfig);
    await until("the older release's CRDs", async () => (await items(k, "openstackclusters,machines")).length === 0);
    const asked = { name: "web", clouds: simulator.cloudsYaml, cloud: "simulator", replicas: 2 };
    const access = { kubeconfig: readFileSync((inside as Server).kubeconfig, "utf8"), authority: target.authority };
    for (const one of ownCluster({ ...asked, ...access })) await k.feed(one, "create", "-f", "-");
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "default" } };
    await (workload as KubernetesClient).apply(ServiceAccount, account, { fieldManager: "test" });
    const play = { management: client as KubernetesClient, workload: workload as KubernetesClient, simulator };
    const endPlay = playWorkload(play);
    closing.push(() => endPlay().catch(() => {}));
    const machines = await running(3);
    await Promise.all(older.map((one) => one.stop()));

    const calls = simulator.calls.length;
    const newer = await startOwn(kubeconfig);
    closing.push(() => newer.stop());
    await k.run("scale", "machinedeployment", "web-md-0", "--replicas=3");
    const after = await running(4);
    expect(after).toEqual(expect.arrayContaining([...machines]));
    const changes = simulator.calls
      .slice(calls)
      .filter(({ method, service }) => method !== "GET" && service !== "identity")
      .map(({ method, path }) => `${method} ${path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")}`);
    expect(changes.toSorted()).toEqual(["POST /v2.0/ports", "POST /v2.1/servers"]);

    await k.run("delete", "cluster", "web", "--timeout=280s");
    expect(simulator.inventory("demo")).toEqual(before);
  });
}
