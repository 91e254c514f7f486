/**
 * Clusters by a ClusterClass on the simulated cloud: our class, and the one of the OpenStack provider's release as it
 * is.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  allKinds,
  Cluster,
  conversionsOf,
  OpenStackCluster,
  OpenStackMachine,
  OpenStackMachineTemplate,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import {
  createClient,
  loadKubeconfig,
  Secret,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { parseAllDocuments } from "yaml";
import { runManagers } from "../../testing/managers.ts";
import { yamlOf } from "./action.ts";
import { clusterTemplates } from "./cluster-templates.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });

const namespace = "default";

/** A release of upstream's provider, and the folder with its templates. */
interface Release {
  readonly version: string;
  readonly folder: string;
}

/** The Go module of one release, and a checkout of another where the environment names it as VERSION=FOLDER. */
const [otherVersion = "", otherFolder = ""] = (process.env["CAUSEWAY_CAPO_TEMPLATES"] ?? "").split("=");
const releases: readonly Release[] = [
  {
    version: "v0.14.7",
    folder: join(homedir(), "go/pkg/mod/sigs.k8s.io/cluster-api-provider-openstack@v0.14.7/templates"),
  },
  ...(otherFolder === "" ? [] : [{ version: otherVersion, folder: otherFolder }]),
];

let api: ApiServer;
let simulator: Simulator;
let client: KubernetesClient;

beforeAll(async () => {
  [api, simulator] = await Promise.all([
    startApiServer({ crds: allKinds.map(toCustomResourceDefinition), conversions: conversionsOf(allKinds) }),
    startSimulator({ profile: "instant" }),
  ]);
  client = createClient(loadKubeconfig({ text: await api.management.kubeconfig() }));
  // Upstream's class names a Secret that the user brings.
  const data = { "clouds.yaml": cloudsYaml() };
  const metadata = { name: "dev-test-cloud-config", namespace };
  await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, data });
});
afterAll(async () => {
  await client.close();
  await Promise.all([api.close(), simulator.close()]);
});

const cloudsYaml = () => Buffer.from(simulator.cloudsYaml).toString("base64");

const run = () => runManagers(client, allKinds);

/** What `clusterctl generate` does with variables. */
function documents(template: string, values: Readonly<Record<string, string>>): KubeObject[] {
  const filled = template.replaceAll(
    /(?<!\$)\$\{(\w+)(?::?=([^}]*))?\}/g,
    (_, name: string, otherwise = "") => values[name] ?? otherwise,
  );
  return parseAllDocuments(filled.replaceAll("$${", "${")).map((one) => one.toJS() as KubeObject);
}

function typeOf({ apiVersion, kind: name }: KubeObject): ResourceType<KubeObject> {
  const [group = "", version = ""] = apiVersion.split("/");
  const kind = name === "Secret" ? Secret : allKinds.find((one) => one.kind === name && one.group === group);
  if (!kind) throw new Error(`no kind ${name}`);
  return { ...kind, ...(kind === Secret ? {} : { version }) } as ResourceType<KubeObject>;
}

async function apply(objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects)
    await client.create(typeOf(object), { ...object, metadata: { ...object.metadata, namespace } });
}

/** The class and its templates, by whose names another release has others. */
async function remove(objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) await client.delete(typeOf(object), { namespace, name: object.metadata.name });
  for (const object of objects)
    await until(`no ${object.kind} ${object.metadata.name}`, async () => {
      return (await client.find(typeOf(object), { namespace, name: object.metadata.name })) === undefined;
    });
}

async function until<T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + 200_000; Date.now() < end; await systemClock.sleep(50)) {
    const found = await check().catch(() => undefined);
    if (found) return found;
  }
  const cluster = await client.list(Cluster, { namespace });
  throw new Error(
    `never came: ${what}: ${JSON.stringify(
      cluster.items.map(({ status }) => status?.conditions),
      null,
      1,
    )}`,
  );
}

const reconciled = (name: string) =>
  until("TopologyReconciled", async () => {
    const { status, spec } = await client.get(Cluster, { namespace, name });
    const condition = status?.conditions?.find(({ type }) => type === "TopologyReconciled");
    return condition?.status === "True" && spec.infrastructureRef && spec;
  });
const machines = async () => (await client.list(OpenStackMachine, { namespace })).items;
const names = (kind: string) => simulator.inventory("demo").filter((line) => line.startsWith(`${kind} `));

interface Case {
  readonly name: string;
  readonly release?: Release;
  readonly classText: () => string;
  readonly clusterText: () => string;
  readonly values: Readonly<Record<string, string>>;
}

const upstream: Readonly<Record<string, string>> = {
  OPENSTACK_CLOUD: "simulator",
  OPENSTACK_EXTERNAL_NETWORK_NAME: "public",
  OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR: "m1.small",
  OPENSTACK_NODE_MACHINE_FLAVOR: "m1.small",
  KUBERNETES_VERSION: "v1.34.0",
  CONTROL_PLANE_MACHINE_COUNT: "1",
  WORKER_MACHINE_COUNT: "1",
  IMAGE_REF: '""',
  INJECT_IGNITION_SYSEXT: "false",
};

const ofRelease = ({ folder }: Release, file: string) => readFileSync(join(folder, file), "utf8");
const nameOf = (what: string, { version }: Release) => `${what}-${version.replaceAll(/[^a-z0-9]/g, "-")}`;
const ofOurs = (file: string) => () => yamlOf(clusterTemplates[file] ?? []);
const cases: readonly Case[] = [
  {
    name: "ours",
    classText: ofOurs("clusterclass-openstack.yaml"),
    clusterText: ofOurs("cluster-template-topology.yaml"),
    values: { ...upstream, OPENSTACK_IMAGE_NAME: "cirros" },
  },
  ...releases.map((release) => ({
    name: nameOf("upstreams", release),
    release,
    classText: () => ofRelease(release, "clusterclass-dev-test.yaml"),
    clusterText: () => ofRelease(release, "cluster-template-topology.yaml"),
    values: upstream,
  })),
];

describe.each(cases)("a Cluster by the ClusterClass of $name", ({ name, release, classText, clusterText, values }) => {
  const isThere = release === undefined || existsSync(release.folder);
  test.skipIf(!isThere)(
    "is created, follows a variable without new machines, and is deleted without a trace",
    async () => {
      const kill = run();
      try {
        const ofClass = documents(classText(), values);
        await apply(ofClass);
        const before = simulator.inventory("demo");
        const from = simulator.calls.length;
        const cluster = documents(clusterText(), {
          ...values,
          CLUSTER_NAME: name,
          OPENSTACK_CLOUD_YAML_B64: cloudsYaml(),
        });
        // Upstream's template leaves the image's name to the user.
        for (const one of cluster as Cluster[]) {
          const variables = one.kind === "Cluster" ? one.spec.topology?.variables : undefined;
          if (release !== undefined) variables?.push({ name: "imageName", value: "cirros" });
          else variables?.push({ name: "allowedCIDRs", value: [] });
        }
        await apply(cluster);
        const { infrastructureRef } = await reconciled(name);
        await until("a server of the control plane", async () =>
          (await machines()).some(({ status }) => status?.initialization?.provisioned === true),
        );
        expect(names("server")).toHaveLength(1);
        // How often a list is read follows from the interval between two checks, which is twenty milliseconds here.
        const calls = simulator.calls.slice(from);
        const reads = new Set(calls.filter(({ method }) => method === "GET").map(({ path }) => path));
        const changes = calls.filter(({ method }) => method !== "GET");
        expect(reads.size, "different reads to create a cluster").toBeLessThan(30);
        expect(changes.length, "changes to create a cluster with a load balancer and a server").toBeLessThan(25);

        // Allowed addresses change in place: the load balancer's listener, and no template.
        const templates = async () =>
          (await client.list(OpenStackMachineTemplate, { namespace })).items
            .map(({ metadata }) => metadata.name)
            .toSorted();
        const [oldTemplates, servers] = [await templates(), names("server")];
        const found = await client.get(Cluster, { namespace, name });
        const variables = (found.spec.topology?.variables ?? []).map((one) =>
          one.name === "allowedCIDRs" ? { ...one, value: ["203.0.113.0/24"] } : one,
        );
        await client.patch(
          Cluster,
          { namespace, name },
          { type: "merge", body: { spec: { topology: { variables } } } },
        );
        const key = { namespace, name: infrastructureRef?.name ?? "" };
        await until("the allowed addresses", async () =>
          (await client.get(OpenStackCluster, key)).spec.apiServer?.managedLoadBalancer?.allowedCIDRs?.includes(
            "203.0.113.0/24",
          ),
        );
        await reconciled(name);
        expect([await templates(), names("server")]).toEqual([oldTemplates, servers]);

        await client.delete(Cluster, { namespace, name });
        await until("no Cluster", async () => (await client.find(Cluster, { namespace, name })) === undefined);
        expect(simulator.inventory("demo")).toEqual(before);
        await until("no templates of it", async () => (await templates()).every((one) => !one.startsWith(`${name}-`)));
        await remove(ofClass);
      } finally {
        await kill();
      }
    },
  );
});

describe.each(releases)("a Cluster by a template of upstream's release $version, as it is", (release) => {
  test.skipIf(!existsSync(release.folder)).each([
    ["plain", "cluster-template.yaml", 1],
    ["without-lb", "cluster-template-without-lb.yaml", 0],
    ["old-core", "cluster-template-capi-v1beta1.yaml", 1],
  ])(
    "%s: its first server boots kubeadm at its endpoint, and it is deleted without a trace",
    async (flavour, file, balancers) => {
      const name = nameOf(flavour, release);
      const kill = run();
      const cloud = connectCloud(loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" }));
      try {
        const before = simulator.inventory("demo");
        const [external] = await cloud.network.networks.all({ name: "public" });
        const objects = documents(ofRelease(release, file), {
          ...upstream,
          CLUSTER_NAME: name,
          OPENSTACK_CLOUD_YAML_B64: cloudsYaml(),
          OPENSTACK_CLOUD_CACERT_B64: "",
          OPENSTACK_EXTERNAL_NETWORK_ID: external?.id ?? "",
          OPENSTACK_DNS_NAMESERVERS: "9.9.9.9",
          OPENSTACK_FAILURE_DOMAIN: "nova",
          OPENSTACK_IMAGE_NAME: "cirros",
          OPENSTACK_IMAGE_NAME_UPGRADE_FROM: "cirros",
          OPENSTACK_SSH_KEY_NAME: "",
        });
        await apply(objects);
        const first = await until("a server of the control plane", async () =>
          (await machines()).find(({ status }) => status?.initialization?.provisioned === true),
        );
        const [server] = simulator.machines();
        expect(server?.userData).toMatch(/kubeadm init/);
        expect(first.metadata.name).toMatch(new RegExp(`^${name}-control-plane-`));
        expect([names("server").length, names("loadbalancer").length]).toEqual([1, balancers]);
        const { spec, status } = await until("an endpoint", async () => {
          const found = await client.get(Cluster, { namespace, name });
          return found.spec.controlPlaneEndpoint?.host ? found : undefined;
        });
        expect(spec.controlPlaneEndpoint).toEqual({
          host: expect.stringMatching(/^172\.24\.4\./) as string,
          port: 6443,
        });
        expect(status?.initialization?.infrastructureProvisioned).toBe(true);
        await client.delete(Cluster, { namespace, name });
        await until("no Cluster", async () => (await client.find(Cluster, { namespace, name })) === undefined);
        expect(simulator.inventory("demo")).toEqual(before);
      } finally {
        await kill();
        await cloud.close();
      }
    },
  );
});
