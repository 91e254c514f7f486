/** clusterctl, unmodified, with releases of our providers: generates clusters, upgrades them, describes a topology. */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allKinds } from "@causeway/api";
import { createClusterApi } from "@causeway/cluster-api";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  createRemoteClusters,
  loadKubeconfig,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { certManager } from "./cluster-api/cert-manager.ts";
import { apply } from "./cluster-api/install.ts";
import { conditionsOf, get, items, nameOf, until, type Json } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { execute } from "./run.ts";
import { startServer, type Server } from "./servers.ts";

const { clusterApi, kubectls } = programs();
const minutes = 60_000;
const root = join(import.meta.dirname, "../..");
const current = "v0.1.0";
const older = "v0.0.9";
/** A kind that the older release does not have yet. */
const young = "machinedrainrules.cluster.x-k8s.io";
/** Its CRD comes with the program that runs such control planes. */
const HOSTED = "HostedControlPlane";
const providers = ["cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-openstack"];

describe("clusterctl with releases of our providers", { timeout: 8 * minutes, retry: 0 }, () => {
  if ("reason" in clusterApi) test.skip(`all (${clusterApi.reason})`);
  else scenario(join(clusterApi.dir, "clusterctl"));
});

function scenario(clusterctl: string): void {
  let server: Server;
  let k: Kubectl;
  let repository: string;

  beforeAll(async () => {
    server = await startServer("causeway");
    k = kubectlOn(server, kubectls[0] ?? "kubectl", { namespace: "default", minor: 34 });
    repository = join(server.dir, "providers");
    const start = join(root, "packages/causeway/src/start.js");
    const made = spawnSync(process.execPath, [start, "generate", "provider", repository], { encoding: "utf8" });
    expect([made.status, made.stderr]).toEqual([0, ""]);
    olderRelease(repository);
    await apply(k, certManager);
    await k.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
  }, 8 * minutes);
  afterAll(() => server?.close());

  async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const home = { HOME: server.dir, XDG_CONFIG_HOME: server.dir, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" };
    const { code, stdout, stderr } = await execute(clusterctl, args, {
      env: { ...home, KUBECONFIG: server.kubeconfig, ...env },
      timeout: 6 * minutes,
    });
    if (code !== 0) throw new Error(`clusterctl ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
    return stdout + stderr;
  }
  const config = () => ["--config", join(repository, "clusterctl.yaml")];

  test("an older release is installed, and upgraded without a loss", async () => {
    const chosen = ["--core", `cluster-api:${older}`, "--bootstrap", `kubeadm:${older}`];
    const rest = ["--control-plane", `kubeadm:${older}`, "--infrastructure", `openstack:${older}`];
    await run(["init", ...config(), ...chosen, ...rest]);
    expect(await versions()).toEqual(providers.map((name) => `${name} ${older}`));
    expect(await k.run("get", "crd", "-o", "name")).not.toContain(young);
    await k.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
    await withoutWebhooks();
    await k.feed(cluster, "create", "-f", "-");
    const uid = (await get(k, "cluster", "kept"))["metadata"] as Json;

    const plan = await run(["upgrade", "plan", ...config()]);
    for (const name of providers) expect(plan).toMatch(new RegExp(`^${name} .*${older} +${current}`, "m"));
    expect(plan).toContain("clusterctl upgrade apply --contract v1beta2");

    await run(["upgrade", "apply", ...config(), "--contract", "v1beta2"]);
    expect(await versions()).toEqual(providers.map((name) => `${name} ${current}`));
    expect(await k.run("get", "crd", "-o", "name")).toContain(young);
    expect((await get(k, "cluster", "kept"))["metadata"]).toMatchObject({ uid: uid["uid"] });
    const images = (await items(k, "deployments", "-A", "-l", "clusterctl.cluster.x-k8s.io")).map(imageOf);
    expect(new Set(images)).toEqual(new Set([expect.not.stringContaining(older)]));
    expect(images).toHaveLength(providers.length);
    await withoutWebhooks();
    const again = await run(["upgrade", "plan", ...config()]);
    expect(again).toContain("You are already up to date!");
  });

  test.each([
    ["", ["KubeadmControlPlane", "OpenStackCluster"]],
    ["without-lb", ["KubeadmControlPlane", "OpenStackCluster"]],
    ["bastion", ["KubeadmControlPlane", "OpenStackCluster"]],
    ["hosted", [HOSTED, "OpenStackCluster"]],
    ["topology", []],
  ])("a cluster of flavour %j is generated with every variable filled in", async (flavour, kinds) => {
    const text = await generate(flavour);
    expect(text).not.toContain("${");
    const objects = parseAllDocuments(text).map((one) => one.toJS() as Json);
    const found = objects.map((one) => String(one["kind"]));
    expect(found).toContain("Cluster");
    expect(found).toEqual(expect.arrayContaining(kinds));
    const spec = (kind: string) => objects.find((one) => one["kind"] === kind)?.["spec"];
    if (flavour === "topology") {
      expect(found).toContain("ClusterClass");
      expect(spec("Cluster")).toMatchObject({
        topology: {
          version: "v1.34.2",
          controlPlane: { replicas: 3 },
          workers: { machineDeployments: [{ replicas: 2 }] },
        },
      });
    } else expect(spec("MachineDeployment")).toMatchObject({ replicas: 2, template: { spec: { version: "v1.34.2" } } });
    if (flavour === "") expect(spec("KubeadmControlPlane")).toMatchObject({ replicas: 3, version: "v1.34.2" });
    // What it made is what the CRDs let through.
    const list = { apiVersion: "v1", kind: "List", items: objects.filter((one) => one["kind"] !== HOSTED) };
    await k.feed(list, "create", "--dry-run=server", "-f", "-");
  });

  test("a Cluster that its ClusterClass made is described", async () => {
    const text = await generate("topology");
    for (const object of parseAllDocuments(text).map((one) => one.toJS() as Json))
      await k.feed(withWorkers(object), "create", "-f", "-");
    const installed = new Set((await items(k, "crd")).map(nameOf));
    const kinds = allKinds.filter(({ plural, group }) => installed.has(`${plural}.${group}`));
    const stop = runCore(server.kubeconfig, kinds);
    try {
      await until("a topology that is reconciled", async () => {
        const { status } = await get(k, "cluster", "web");
        const conditions = conditionsOf({ status });
        return conditions.includes("TopologyReconciled=True/ReconcileSucceeded") || conditions;
      });
      await until("worker machines", async () => (await items(k, "machines")).length === 2);
      const tree = await run(["describe", "cluster", "web", "--namespace", "default", "--show-conditions", "all"]);
      const lines = tree.split("\n").map((line) => line.replaceAll(/[│├└─ ]+/g, " ").trim());
      const shown = (name: RegExp) => lines.some((line) => name.test(line));
      for (const name of [
        /^Cluster\/web/,
        /ClusterInfrastructure - OpenStackCluster\/web-/,
        /ControlPlane - KubeadmControlPlane\/web-/,
        /MachineDeployment\/web-md-0-/,
      ])
        expect(shown(name), `${String(name)} of\n${tree}`).toBe(true);
      expect(tree).toMatch(/TopologyReconciled +True/);
    } finally {
      await stop();
    }
  });

  async function generate(flavour: string): Promise<string> {
    const chosen = ["--infrastructure", `openstack:${current}`, "--target-namespace", "default"];
    const more = flavour === "" ? [] : ["--flavor", flavour];
    const sizes = ["--kubernetes-version", "v1.34.2", "--control-plane-machine-count", "3"];
    const workers = ["--worker-machine-count", "2"];
    return run(["generate", "cluster", "web", ...config(), ...chosen, ...more, ...sizes, ...workers], variables);
  }

  /** No manager runs here that would answer. */
  async function withoutWebhooks(): Promise<void> {
    await k.run("delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "--all");
  }

  async function versions(): Promise<string[]> {
    const found = await items(k, "providers.clusterctl.cluster.x-k8s.io", "-A");
    const lines = found.map((one) => `${nameOf(one)} ${String(one["version"])}`);
    return providers.map((name) => lines.find((line) => line.startsWith(`${name} `)) ?? `no ${name}`);
  }
}

const variables = {
  OPENSTACK_BASTION_MACHINE_FLAVOR: "m1.tiny",
  OPENSTACK_CLOUD: "openstack",
  OPENSTACK_CLOUD_CACERT_B64: "Cg==",
  OPENSTACK_CLOUD_YAML_B64: "Cg==",
  OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR: "m1.medium",
  OPENSTACK_EXTERNAL_NETWORK_ID: "11111111-2222-3333-4444-555555555555",
  OPENSTACK_IMAGE_NAME: "node",
  OPENSTACK_NODE_MACHINE_FLAVOR: "m1.small",
  OPENSTACK_SSH_KEY_NAME: "key",
};

/** The same providers as an older release of them would be: with another image, and without one of the kinds. */
function olderRelease(repository: string): void {
  for (const name of providers) {
    const [from, to] = [join(repository, name, current), join(repository, name, older)];
    cpSync(from, to, { recursive: true });
    for (const file of readdirSync(to)) {
      const documents = parseAllDocuments(readFileSync(join(to, file), "utf8")).map((one) => one.toJS() as Json);
      const kept = documents.filter((one) => (one["metadata"] as Json | undefined)?.["name"] !== young);
      const text = kept.map((one) => stringify(one, { lineWidth: 0 })).join("---\n");
      writeFileSync(join(to, file), text.replaceAll(/(image: \S+):\S+/g, `$1:${older}`));
    }
  }
}

/** clusterctl shows no workers without Machines, which would wait for the control plane. */
function withWorkers(object: Json): Json {
  const { topology } = (object["spec"] ?? {}) as { topology?: { workers: { machineDeployments: Json[] } } };
  const annotations = { "machineset.cluster.x-k8s.io/skip-preflight-checks": "All" };
  for (const one of topology?.workers.machineDeployments ?? []) one["metadata"] = { annotations };
  return object;
}

function imageOf(deployment: Json): string {
  const { template } = deployment["spec"] as { template: { spec: { containers: { image: string }[] } } };
  return template.spec.containers[0]?.image ?? "";
}

/** The core provider in this process; the returned function ends it. */
function runCore(kubeconfig: string, kinds: typeof allKinds): () => Promise<void> {
  const stop = new AbortController();
  const client = createClient(loadKubeconfig({ text: readFileSync(kubeconfig, "utf8") }));
  const options = { clock: systemClock, log: silentLog };
  const informers = createInformers(client, options);
  const remoteClusters = createRemoteClusters({ informers, ...options });
  const events = createEventRecorder(client, { component: "test" });
  const core = createClusterApi({ informers, remoteClusters, kinds, events, ...options });
  const { signal } = stop;
  const running = Promise.all([informers.run(signal), remoteClusters.run(signal), core.run(signal)]);
  return async () => {
    stop.abort();
    await running.catch(() => {});
    await client.close();
  };
}

const cluster: Json = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "kept", namespace: "default" },
  spec: { paused: true },
};
