/**
 * Every command of `openstack coe` (python-magnumclient of the machine, unchanged) on the Magnum API of `causeway up`.
 * Without the client there is nothing to show, and the cases are skipped. With CAUSEWAY_MAGNUM_PROGRAMS (a folder of
 * programs by version) control planes are etcd, kube-apiserver, kube-controller-manager and kube-scheduler, and
 * CAUSEWAY_MAGNUM_VERSIONS has the two versions of the upgrade; otherwise they are embedded.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  createClient,
  Deployment,
  keyOf,
  loadKubeconfig,
  Node,
  Pod,
  Service,
  StorageClass,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { Ingress } from "@causeway/octavia-ingress";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { eventually } from "../../support/processes.ts";
import type { OpenedCloud } from "../../support/suite-cloud.ts";
import { openSystemCloud } from "../../support/system-cloud.ts";

vi.setConfig({ testTimeout: 300_000 });

const MINUTE = 60_000;
const programs = process.env["CAUSEWAY_MAGNUM_PROGRAMS"];
const [FIRST = "v1.34.0", NEXT = "v1.34.1"] = process.env["CAUSEWAY_MAGNUM_VERSIONS"]?.split(" ") ?? [];
const hasClient = spawnSync("openstack", ["coe", "cluster", "list", "--help"]).status === 0;

let opened: OpenedCloud;
let cloud: Cloud;
const folder = mkdtempSync(join(tmpdir(), "magnum-client-"));

beforeAll(async () => {
  if (!hasClient) return;
  opened = await openSystemCloud(programs === undefined ? [] : ["--runtime", "process", "--programs", programs]);
  writeFileSync(join(folder, "clouds.yaml"), opened.cloud.text, { mode: 0o600 });
  cloud = connectCloud(loadCloudsYaml({ cloud: opened.cloud.member, text: opened.cloud.text }));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await cloud?.close();
  if (hasClient) await opened.close();
});

interface Printed {
  readonly code: number;
  readonly text: string;
}

type As = "simulator" | "simulator-admin";

/** Runs `openstack coe COMMAND…` to its end, as a member or as the administrator. */
const coe = (command: string, as: As = "simulator"): Promise<Printed> => openstack(`coe ${command}`, as);

function openstack(command: string, as: As = "simulator"): Promise<Printed> {
  // `coe cluster config` needs SHELL, which a program without a terminal need not have.
  const env = { SHELL: "/bin/sh", OS_CLIENT_CONFIG_FILE: join(folder, "clouds.yaml"), OS_CLOUD: as };
  return run("openstack", command, env);
}

function run(program: string, command: string, more: Readonly<Record<string, string>>): Promise<Printed> {
  return new Promise((done) => {
    const env = { ...process.env, ...more };
    execFile(program, command.split(" "), { env, cwd: folder }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : 1, text: `${stdout}${stderr}` });
    });
  });
}

/** Nodes of the cluster that kubectl shows by the kubeconfig that the command wrote, with a new token of the member. */
async function nodesWithToken(): Promise<Printed> {
  const { text } = await openstack("token issue -f value -c id");
  return run("kubectl", "--kubeconfig config get nodes -o name", { OS_TOKEN: text.trim() });
}

/** The output of a command that has to succeed. */
async function good(command: string, as?: "simulator-admin"): Promise<string> {
  const { code, text } = await coe(command, as);
  if (code !== 0) throw new Error(`openstack coe ${command}: ${text}`);
  return text;
}

const valueOf = async (command: string): Promise<Record<string, unknown>> =>
  JSON.parse(await good(`${command} -f json`)) as Record<string, unknown>;

/** Of the clusters that are listed. */
const names = async (): Promise<readonly string[]> => (await good("cluster list -f value -c name")).split("\n");

const complete = (status: string, cluster = "one") =>
  eventually(4 * MINUTE, async () => (await valueOf(`cluster show ${cluster}`))["status"] === status);

/** A client of the cluster by the kubeconfig that the command wrote. */
const clientOf = () => createClient(loadKubeconfig({ path: join(folder, "config") }));

/** Names of the StorageClasses that claims without one get. */
async function defaultClasses(client: KubernetesClient): Promise<readonly string[]> {
  const { items } = await client.list(StorageClass);
  return items
    .filter(({ metadata }) => metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true")
    .map(({ metadata }) => metadata.name);
}

/** Images of the pods that run on nodes that there are and are ready, by the beginning of their names. */
async function runningPods(client: KubernetesClient): Promise<Record<string, string[]>> {
  const nodes = new Set((await client.list(Node)).items.map(({ metadata }) => metadata.name));
  const { items } = await client.list(Pod);
  const found: Record<string, string[]> = {};
  for (const { metadata, spec, status } of items) {
    if (!nodes.has(spec.nodeName ?? "")) continue;
    const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
    if (metadata.deletionTimestamp !== undefined || status?.phase !== "Running" || isReady !== true) continue;
    const name = /^(coredns|kube-proxy|kube-flannel-ds)/.exec(metadata.name)?.[1] ?? metadata.name;
    (found[name] ??= []).push((spec.containers[0] as { image?: string } | undefined)?.image ?? "");
  }
  return found;
}

const addonsOf = (version: string, nodes: number): Record<string, string[]> => ({
  coredns: Array<string>(2).fill(
    `registry.k8s.io/coredns/coredns:${version.startsWith("v1.33.") ? "v1.12.0" : "v1.12.1"}`,
  ),
  "kube-proxy": Array<string>(nodes).fill(`registry.k8s.io/kube-proxy:${version}`),
  "kube-flannel-ds": Array<string>(nodes).fill("ghcr.io/flannel-io/flannel:v0.28.4"),
});

const TEMPLATE = `--coe kubernetes --image cirros --flavor m1.small --external-network public --labels kube_tag=${FIRST}`;

describe.runIf(hasClient)("openstack coe", () => {
  it("creates, lists, shows and updates templates", async () => {
    await good(`cluster template create small ${TEMPLATE}`);
    await good(`cluster template create other ${TEMPLATE}`);
    expect(await good("cluster template list")).toMatch(/small[^]*other/);
    await good("cluster template update other replace dns_nameserver=1.1.1.1");
    expect(await valueOf("cluster template show other")).toMatchObject({ name: "other", dns_nameserver: "1.1.1.1" });
    expect((await coe("cluster template update other replace no_such=1")).code).toBe(1);
  });

  it("creates a cluster, whose nodes its kubeconfig shows", async () => {
    await good("cluster create one --cluster-template small --node-count 1");
    expect(await good("cluster list")).toContain("one");
    await complete("CREATE_COMPLETE");
    expect((await coe("cluster template delete small")).text).toContain("is referenced by one or multiple clusters");
    await good("cluster config one --dir . --force");
    const client = clientOf();
    expect((await client.list(Node)).items).toHaveLength(1);
    await client.close();
  });

  it("has DNS, kube-proxy and a network of pods as soon as it is complete, and gets them back when they are deleted", async () => {
    const client = clientOf();
    expect(await runningPods(client)).toEqual(addonsOf(FIRST, 1));
    await client.delete(Deployment, { namespace: "kube-system", name: "coredns" });
    await eventually(MINUTE, async () => (await runningPods(client))["coredns"]?.length === 2);
    await client.close();
  });

  it("shows the authority, signs a request, and counts what there is", async () => {
    expect(await good("ca show one")).toContain("BEGIN CERTIFICATE");
    const [key, request] = [join(folder, "key.pem"), join(folder, "request.pem")];
    const line = `req -new -newkey rsa:2048 -nodes -keyout ${key} -out ${request} -subj /CN=user/O=a-team`;
    const made = spawnSync("openssl", line.split(" "));
    expect(made.status).toBe(0);
    expect(await good("ca sign one request.pem")).toContain("BEGIN CERTIFICATE");
    const { project_id: project } = await valueOf("cluster show one");
    expect(await good(`stats list ${String(project)}`)).toMatch(/clusters\s*\|\s*1[^]*nodes\s*\|\s*2/);
    expect(await good("service list", "simulator-admin")).toContain("magnum-conductor");
    expect((await coe("service list")).code).toBe(1);
  });

  it("resizes and updates the cluster's number of nodes", async () => {
    await good("cluster resize one 2");
    await complete("UPDATE_COMPLETE");
    await good("cluster update one replace node_count=1");
    await complete("UPDATE_COMPLETE");
    const client = clientOf();
    // Complete means that the other node is gone.
    expect((await client.list(Node)).items).toHaveLength(1);
    await client.close();
  });

  it("creates, lists, shows, updates and deletes node groups", async () => {
    await good("nodegroup create one extra --node-count 1 --role extra");
    await complete("UPDATE_COMPLETE");
    expect(await good("nodegroup list one")).toMatch(/default-master[^]*default-worker[^]*extra/);
    await good("nodegroup update one extra replace max_node_count=3");
    expect(await valueOf("nodegroup show one extra")).toMatchObject({
      max_node_count: 3,
      node_count: 1,
      role: "extra",
    });
    expect((await coe("nodegroup delete one default-worker")).code).toBe(1);
    await good("nodegroup delete one extra");
    await complete("UPDATE_COMPLETE");
    expect(await good("nodegroup list one")).not.toContain("extra");
  });

  it("refuses an upgrade that skips a minor version, and leaves the cluster as it is", async () => {
    await good("cluster template update other replace labels=kube_tag=v1.36.0");
    const refused = await coe("cluster upgrade one other");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("a control plane is upgraded by one minor version at a time");
    expect((await valueOf("cluster show one"))["status"]).toBe("UPDATE_COMPLETE");
  });

  it("upgrades the control plane and the nodes to a newer version", { timeout: 10 * MINUTE }, async () => {
    await good(`cluster template update other replace labels=kube_tag=${NEXT}`);
    await good("cluster upgrade one other");
    await complete("UPDATE_COMPLETE");
    expect(await valueOf("cluster show one")).toMatchObject({ coe_version: NEXT });
    const client = clientOf();
    const { items } = await client.list(Node);
    expect(items.map(({ status }) => status?.nodeInfo?.kubeletVersion)).toEqual([NEXT]);
    expect(await runningPods(client)).toEqual(addonsOf(NEXT, 1));
    await client.close();
  });

  it(
    "rotates the authority: the kubeconfig of before is refused, a new one works",
    { timeout: 10 * MINUTE },
    async () => {
      const before = await good("ca show one");
      const old = clientOf();
      await good("ca rotate one");
      await eventually(9 * MINUTE, async () => (await valueOf("cluster show one"))["status"] === "UPDATE_COMPLETE");
      const after = await good("ca show one");
      expect(after.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
      expect(after).not.toBe(before);
      await expect(old.list(Node, { signal: AbortSignal.timeout(30_000) })).rejects.toThrow();
      await old.close();
      await good("cluster config one --dir . --force");
      const client = clientOf();
      expect((await client.list(Node)).items).toHaveLength(1);
      await client.close();
    },
  );

  it("has a default StorageClass of Cinder, by which claims get volumes", async () => {
    const client = clientOf();
    await eventually(MINUTE, async () => (await defaultClasses(client)).length > 0);
    expect(await defaultClasses(client)).toEqual(["csi-cinder-sc-delete"]);
    await client.close();
  });

  it("takes several masters, which the embedded runtime shows as accepted without effect", async () => {
    await good(`cluster template create masters ${TEMPLATE} --master-lb-enabled`);
    expect((await coe("cluster create three --cluster-template small --master-count 3")).text).toContain(
      "master_count must be 1 when master_lb_enabled is False",
    );
    const labels =
      "--merge-labels --labels ingress_controller=octavia,cinder_csi_enabled=false,keystone_auth_enabled=true";
    await good(`cluster create three --cluster-template masters --master-count 3 --node-count 1 ${labels}`);
    await complete("CREATE_COMPLETE", "three");
    const reason = expect.stringContaining("master_count=3 has no effect") as string;
    expect(await valueOf("cluster show three")).toMatchObject({ master_count: 3, status_reason: reason });
    expect(await valueOf("nodegroup show three default-master")).toMatchObject({ node_count: 3, role: "master" });
    expect((await coe("cluster resize three 2 --nodegroup default-master")).code).toBe(1);
    await good("cluster resize three 5 --nodegroup default-master");
    await complete("UPDATE_COMPLETE", "three");
    expect(await valueOf("cluster show three")).toMatchObject({ master_count: 5, node_count: 1 });
  });

  it("lets users with role k8s_admin in by config --use-keystone where label keystone_auth_enabled is true", async () => {
    await good("cluster config three --dir . --force --use-keystone");
    // Older clients write v1alpha1, which kubectl does not accept any more.
    const written = readFileSync(join(folder, "config"), "utf8");
    writeFileSync(join(folder, "config"), written.replaceAll("k8s.io/v1alpha1", "k8s.io/v1beta1"));
    expect((await nodesWithToken()).text).toMatch(/[Ff]orbidden/);
    const { auth, scope } = loadCloudsYaml({ cloud: opened.cloud.member, text: opened.cloud.text });
    const user = auth.type === "password" ? (auth.username ?? "") : "";
    for (const command of [
      "role create k8s_admin",
      `role add --user ${user} --project ${scope?.projectName} k8s_admin`,
    ])
      expect(await openstack(command, "simulator-admin")).toMatchObject({ code: 0 });
    expect(await nodesWithToken()).toMatchObject({ code: 0, text: expect.stringMatching(/^node\/\S+\n$/) as string });
  });

  it("has Ingresses on Octavia where label ingress_controller asks for them, and no volumes where they are not wanted", async () => {
    const { status_reason: reason } = await valueOf("cluster show three");
    expect(reason).not.toMatch(/ingress_controller|cinder_csi_enabled/);
    await good("cluster config three --dir . --force");
    const client = clientOf();
    await client.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "default" },
      spec: { type: "NodePort", selector: { app: "web" }, ports: [{ name: "http", port: 80, protocol: "TCP" }] },
    } as Service);
    const backend = { service: { name: "web", port: { number: 80 } } };
    const ingress = await client.create(Ingress, {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "web", namespace: "default" },
      spec: { ingressClassName: "octavia", defaultBackend: backend },
    });
    const address = async () =>
      (await client.get(Ingress, keyOf(ingress))).status?.loadBalancer?.ingress?.[0]?.ip ?? "";
    await eventually(3 * MINUTE, async () => (await address()) !== "");
    const vips = async () => (await cloud.loadBalancing.loadBalancers.all({})).map(({ vip_address }) => vip_address);
    expect(await vips()).toContain(await address());
    expect(await defaultClasses(client)).toEqual([]);
    await client.close();
    await good("cluster delete three");
    await eventually(4 * MINUTE, async () => !(await names()).includes("three"));
    const left = (await cloud.loadBalancing.loadBalancers.all({})).filter(({ name }) => name.includes("ingress"));
    expect(left).toEqual([]);
    await good("cluster template delete masters");
  });

  it("has quotas by project, which only the administrator writes", async () => {
    const { project_id: project } = await valueOf("cluster show one");
    const of = `--project-id ${String(project)} --resource Cluster`;
    // The client prints a refusal of a quota and ends with 0.
    expect((await coe(`quotas create ${of} --hard-limit 1`)).text).toMatch(/failed: .*HTTP 403/);
    await good(`quotas create ${of} --hard-limit 1`, "simulator-admin");
    const full = await coe("cluster create two --cluster-template small");
    expect([full.code, full.text]).toEqual([1, expect.stringContaining("You have reached the maximum clusters")]);
    await good(`quotas update ${of} --hard-limit 2`, "simulator-admin");
    expect(await good(`quotas show ${of}`)).toMatch(/hard_limit\s*\|\s*2/);
    expect(await good("quotas list --all-tenants", "simulator-admin")).toContain(String(project));
    await good(`quotas delete ${of}`, "simulator-admin");
  });

  it("deletes the cluster and its templates", async () => {
    await good("cluster delete one");
    await eventually(4 * MINUTE, async () => !(await names()).includes("one"));
    await good("cluster template delete small");
    await good("cluster template delete other");
    expect(await good("cluster template list")).not.toMatch(/small|other/);
  });
});
