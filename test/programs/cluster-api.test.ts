/** Upstream's Cluster API managers with their webhooks, and clusterctl, on both servers. */
import { isDeepStrictEqual } from "node:util";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apply, installInventory, installManagers, type Managers } from "./cluster-api/install.ts";
import { makeDemo } from "./cluster-api/demo.ts";
import { INFRASTRUCTURE } from "./cluster-api/infrastructure.ts";
import { classyCluster, cluster, clusterClass } from "./cluster-api/objects.ts";
import { bringUp, conditionsOf, get, inventory, items, until, type Json } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { execute } from "./run.ts";
import { servers, startServer, type Server } from "./servers.ts";

const { clusterApi, kubectls } = programs();
const minutes = 60_000;

/** With a control plane that no provider owns. */
const CLUSTER_CONDITIONS = [
  "Available=Unknown/AvailableUnknown",
  "ControlPlaneAvailable=Unknown/InternalError",
  "ControlPlaneInitialized=True/Initialized",
  "ControlPlaneMachinesReady=True/Ready",
  "Deleting=False/NotDeleting",
  "InfrastructureReady=True/Ready",
  "Paused=False/NotPaused",
  "Remediating=False/NotRemediating",
  "RemoteConnectionProbe=True/ProbeSucceeded",
  "RollingOut=False/NotRollingOut",
  "ScalingDown=False/NotScalingDown",
  "ScalingUp=False/NotScalingUp",
  "WorkerMachinesReady=True/Ready",
  "WorkerMachinesUpToDate=True/UpToDate",
  "WorkersAvailable=True/Available",
];
/**
 * Upstream's manager does not count a Machine that has no condition UpToDate, as one without a controller, in its first
 * ten seconds: which of both is there depends on when the Cluster was reconciled last.
 */
const UP_TO_DATE = [
  "ControlPlaneMachinesUpToDate=True/NoReplicas",
  "ControlPlaneMachinesUpToDate=Unknown/UpToDateUnknown",
];
const MACHINE_CONDITIONS = [
  "Available=True/Available",
  "BootstrapConfigReady=True/DataSecretProvided",
  "InfrastructureReady=True/Ready",
  "NodeHealthy=True/NodeHealthy",
  "NodeReady=True/NodeReady",
  "Ready=True/Ready",
];

const ownersOf = ({ metadata }: Json): readonly unknown[] =>
  (((metadata as Json)["ownerReferences"] ?? []) as Json[]).map((one) => one["name"]);

for (const { name, missing } of servers())
  // One step builds on another, and what one has created is there when it is repeated.
  describe(`Cluster API on ${name}`, { timeout: 8 * minutes, retry: 0 }, () => {
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
  }, 8 * minutes);
  afterAll(async () => {
    await Promise.all(managers?.running.map((one) => one.stop()) ?? []);
    await server?.close();
  });

  test("a Cluster and a MachineDeployment: defaulted, provisioned, available", async () => {
    await makeDemo(k, { url: server.target.url, kubeconfig: readFileSync(server.kubeconfig, "utf8") });
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
    await until("a Cluster whose conditions have settled", async () => {
      const conditions = conditionsOf(await get(k, "cluster", "demo"));
      const upToDate = conditions.filter((one) => UP_TO_DATE.includes(one));
      const others = conditions.filter((one) => !UP_TO_DATE.includes(one));
      return (upToDate.length === 1 && isDeepStrictEqual(others, CLUSTER_CONDITIONS)) || conditions;
    });
    await until("Machines whose conditions have settled", async () => {
      const conditions = (await items(k, "machines")).map((machine) => new Set(conditionsOf(machine)));
      return conditions.every((seen) => MACHINE_CONDITIONS.every((one) => seen.has(one))) || conditions;
    });
  });

  test("objects that Cluster API's webhooks and rules refuse are refused", async () => {
    const bad = cluster("bad", { host: "127.0.0.1", port: 6443 });
    const network = { clusterNetwork: { pods: { cidrBlocks: ["10.244.0.0"] } } };
    const said = await k.failsFed({ ...bad, spec: { ...(bad["spec"] as Json), ...network } }, "create", "-f", "-");
    expect(said).toContain('The Cluster "bad" is invalid: spec.clusterNetwork.pods.cidrBlocks[0]: Invalid value');
    const elsewhere = '{"spec":{"clusterName":"other"}}';
    expect(await k.fails("patch", "machinedeployment", "demo", "--type=merge", "-p", elsewhere)).toContain("immutable");
    const [control] = clusterClass("refused").filter((o) => o["kind"] === "KubeadmControlPlaneTemplate");
    const format = { spec: { template: { spec: { kubeadmConfigSpec: { format: "paper" } } } } };
    const unsupported = await k.failsFed({ ...control, ...format }, "create", "-f", "-");
    expect(unsupported).toContain('Unsupported value: "paper"');
    expect(await k.run("get", "clusters", "-o", "name")).toBe("cluster.cluster.x-k8s.io/demo\n");
  });

  test("v1beta1 is read and written by conversion", async () => {
    const old = await get(k, "machinedeployments.v1beta1.cluster.x-k8s.io", "demo");
    expect(old["apiVersion"]).toBe("cluster.x-k8s.io/v1beta1");
    expect(old["spec"]).toMatchObject({
      template: {
        spec: { infrastructureRef: { apiVersion: `${INFRASTRUCTURE}/v1beta2`, kind: "StubMachineTemplate" } },
      },
    });
    expect(old["status"]).toMatchObject({ v1beta2: { conditions: expect.any(Array) as unknown } });
    const before = await get(k, "machinedeployment", "demo");
    const patch = '{"spec":{"progressDeadlineSeconds":700,"minReadySeconds":3}}';
    await k.run("patch", "machinedeployments.v1beta1.cluster.x-k8s.io", "demo", "--type=merge", "-p", patch);
    const after = await get(k, "machinedeployment", "demo");
    const machine = (object: Json): Json => ((object["spec"] as Json)["template"] as { spec: Json }).spec;
    expect(machine(after)).toEqual({ ...machine(before), minReadySeconds: 3 });
    const list = await get(k, "machines.v1beta1.cluster.x-k8s.io");
    expect((list["items"] as Json[]).map((one) => one["apiVersion"])).toEqual(
      Array(3).fill("cluster.x-k8s.io/v1beta1"),
    );
  });

  test("scaling goes through the scale subresource to machines", async () => {
    await k.run("scale", "machinedeployment", "demo", "--replicas=3");
    await until("a third machine", async () => (await items(k, "stubmachines")).length === 4);
    await bringUp(k);
    await until("three that are ready", async () => {
      const { status } = await get(k, "machinedeployment", "demo");
      return (status as Json)["readyReplicas"] === 3 || status;
    });
  });

  test("a Cluster of a ClusterClass: made by server-side apply, and gone without a trace", async () => {
    for (const one of clusterClass("classy")) await k.feed(one, "create", "-f", "-");
    await until("a class that is known", async () => {
      const conditions = conditionsOf(await get(k, "clusterclass", "classy"));
      return conditions.includes("VariablesReady=True/VariablesReady") || conditions;
    });
    await k.feed(classyCluster("classy"), "create", "-f", "-");
    await until("a topology that is reconciled", async () => {
      const conditions = conditionsOf(await get(k, "cluster", "classy"));
      return conditions.includes("TopologyReconciled=True/ReconcileSucceeded") || conditions;
    });
    const owned = "-l=cluster.x-k8s.io/cluster-name=classy";
    const kinds = "stubclusters,kubeadmcontrolplanes,machinedeployments,kubeadmconfigtemplates,stubmachinetemplates";
    const made = (await items(k, kinds, owned)).map((o) => String(o["kind"])).toSorted();
    expect(made).toEqual([
      "KubeadmConfigTemplate",
      "KubeadmControlPlane",
      "MachineDeployment",
      "StubCluster",
      "StubMachineTemplate",
      "StubMachineTemplate",
    ]);
    await k.run("delete", "cluster", "classy", "--timeout=90s");
    const all = [`${kinds},machines,machinesets,kubeadmconfigs,stubmachines,secrets`, owned];
    await until("nothing that is left", async () => {
      // What only its owner keeps goes by garbage collection, which comes with kube-controller-manager there. What a
      // manager wrote last may come after.
      if (name === "kube-apiserver")
        await k.run("delete", "stubmachinetemplates,kubeadmconfigtemplates,secrets", owned);
      const left = await k.run("get", ...all, "-o", "name");
      return left === "" || left;
    });
    await k.run("delete", "clusterclass", "classy");
    const templates = "stubmachinetemplate,stubclustertemplate,kubeadmconfigtemplate,kubeadmcontrolplanetemplate";
    await k.run("delete", "--ignore-not-found", templates, "classy");
  });

  test("clusterctl describes the Cluster", async () => {
    const text = await clusterctl("describe", "cluster", "demo", "--show-conditions=Machine");
    expect(text).toMatch(/^NAME +/m);
    expect(text).toMatch(/Cluster\/demo/);
    expect(text).toMatch(/MachineDeployment\/demo +3\/3 +3 +3 +3/);
  });

  test("clusterctl moves the Cluster to another server, Secrets with it, owners re-made", async () => {
    const other = await startServer(name);
    if (name === "kube-apiserver") await withoutOwnerless("classy");
    try {
      const there = kubectlOn(other, kubectls[0] ?? "kubectl", { namespace: "default", minor: 34 });
      const everywhere = kubectlOn(other, kubectls[0] ?? "kubectl", { namespace: "", minor: 34 });
      await apply(everywhere, managers?.definitions ?? []);
      await everywhere.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
      await installInventory(everywhere, dir);
      await installInventory(kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "", minor: 34 }), dir);
      const kinds = "clusters,machines,machinesets,machinedeployments,stubclusters,stubmachines,stubmachinetemplates";
      const before = [...(await inventory(k, kinds)), ...(await inventory(k, "secrets"))];
      // A Secret that a user wrote as bootstrap data is not part of the move.
      const moved = before.filter((line) => line !== "Secret/demo-boot <- ");
      await clusterctl("move", "--to-kubeconfig", other.kubeconfig, "--namespace", "default");
      expect([...(await inventory(there, kinds)), ...(await inventory(there, "secrets"))]).toEqual(moved);
      expect(await k.run("get", kinds, "-o", "name")).not.toContain("demo");
    } finally {
      await other.close();
    }
  });

  /**
   * Where no garbage is collected: what a manager wrote for a Cluster after its deletion remains, names it as its
   * owner, and stops `clusterctl move`.
   */
  async function withoutOwnerless(cluster: string): Promise<void> {
    const kinds =
      "stubclusters,stubmachines,stubmachinetemplates,kubeadmcontrolplanes,kubeadmconfigs,kubeadmconfigtemplates," +
      "machines,machinesets,machinedeployments,machinepools,secrets";
    await until(`nothing that ${cluster} owns`, async () => {
      await k.run("delete", kinds, `-l=cluster.x-k8s.io/cluster-name=${cluster}`, "--timeout=30s");
      const left = (await items(k, kinds)).filter((one) => ownersOf(one).includes(cluster));
      // The topology's own Secret has no such label.
      for (const { kind, metadata } of left) {
        const { name: owned } = metadata as { name: string };
        await k.run("delete", "--ignore-not-found", String(kind), owned, "--timeout=30s");
      }
      return left.length === 0 || left;
    });
  }

  async function clusterctl(...args: readonly string[]): Promise<string> {
    const env = { HOME: server.dir, XDG_CONFIG_HOME: server.dir, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" };
    const all = [...args, "--kubeconfig", server.kubeconfig];
    const { code, stdout, stderr } = await execute(join(dir, "clusterctl"), all, { env, timeout: 6 * minutes });
    if (code !== 0) throw new Error(`clusterctl ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }
}
