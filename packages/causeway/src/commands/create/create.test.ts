import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, Cluster, OpenStackCluster, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig, Secret, type KubernetesClient } from "@causeway/kubernetes";
import { startSimulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { checkManifests } from "../../clusters/manifests.ts";
import { describeCluster } from "../describe/action.ts";
import { createCluster } from "./action.ts";
import type { CreateClusterOptions } from "./command.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const signal = new AbortController().signal;
const dir = mkdtempSync(join(tmpdir(), "create-cluster-"));
const kubeconfig = join(dir, "kubeconfig");
const clouds = join(dir, "clouds.yaml");
let server: ApiServer;
let cloud: Awaited<ReturnType<typeof startSimulator>>;
let client: KubernetesClient;

beforeAll(async () => {
  server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  cloud = await startSimulator();
  const text = await server.management.kubeconfig();
  client = createClient(loadKubeconfig({ text }));
  writeFileSync(kubeconfig, text);
  writeFileSync(clouds, cloud.cloudsYaml);
  vi.stubEnv("OS_CLIENT_CONFIG_FILE", clouds);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await client.close();
  await cloud.close();
  await server.close();
  rmSync(dir, { recursive: true, force: true });
});

const options = (changes: Partial<CreateClusterOptions> = {}): CreateClusterOptions => ({
  osCloud: "simulator",
  flavor: "m1.small",
  image: "cirros",
  replicas: 1,
  kubernetesVersion: "v1.34.0",
  wait: false,
  timeout: 1,
  kubeconfig,
  ...changes,
});

/** What a command writes to standard output. */
async function writtenBy(work: () => Promise<void>): Promise<string> {
  let written = "";
  const stdout = vi.spyOn(process.stdout, "write").mockImplementation((text) => (written += String(text)) !== "");
  try {
    await work();
    return written;
  } finally {
    stdout.mockRestore();
  }
}

const objects = async () => [
  ...(await client.list(Secret, { namespace: "default" })).items,
  ...(await client.list(OpenStackCluster, {})).items,
  ...(await client.list(Cluster, {})).items,
];

describe("causeway create cluster leaves nothing, and ends with status 2 and a hint,", () => {
  test.each(["1.34.1", "v1.20.0", "v1.34"])("when its version %s is not served", async (kubernetesVersion) => {
    await expect(createCluster("web", options({ kubernetesVersion }), signal)).rejects.toMatchObject({
      code: "VERSION_NOT_SERVED",
      exitStatus: 2,
      hint: expect.stringContaining("v1.34.x") as string,
    });
    expect(await objects()).toEqual([]);
  });

  test("when the API server refuses one of its objects", async () => {
    const object = {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { namespace: "default", name: "web" },
      spec: { clusterNetwork: { pods: { cidrBlocks: "none" } } },
    } as unknown as Cluster;
    await expect(checkManifests(client, [{ type: Cluster, object }], signal)).rejects.toMatchObject({
      code: "CLUSTER_REFUSED",
      exitStatus: 2,
      message: expect.stringContaining("Cluster/web") as string,
      hint: expect.stringContaining("Nothing was created") as string,
    });
  });

  test("when an earlier attempt left a Secret with another cloud's credentials", async () => {
    const metadata = { namespace: "default", name: "left-cloud-config" };
    const data = { "clouds.yaml": Buffer.from("clouds: {}").toString("base64") };
    await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata, data });
    await expect(createCluster("left", options(), signal)).rejects.toMatchObject({
      code: "CLUSTER_LEFTOVERS",
      exitStatus: 2,
      hint: expect.stringContaining("kubectl delete secret -n default left-cloud-config") as string,
    });
    expect((await objects()).map(({ metadata: { name } }) => name)).toEqual(["left-cloud-config"]);
    await client.delete(Secret, metadata);
  });
});

test("causeway create cluster continues where an attempt ended, and describe shows it as a table and as JSON", async () => {
  await writtenBy(() => createCluster("web", options(), signal));
  await client.delete(Cluster, { namespace: "default", name: "web" });
  await writtenBy(() => createCluster("web", options(), signal));
  expect((await client.list(Cluster, {})).items).toHaveLength(1);
  const shown = (output: "table" | "json") => writtenBy(() => describeCluster("web", { kubeconfig, output }, signal));
  expect(await shown("table")).toMatch(/^NAME +READY/);
  expect(JSON.parse(await shown("json"))).toMatchObject({ object: { kind: "Cluster", metadata: { name: "web" } } });
  await expect(describeCluster("nope", { kubeconfig, output: "table" }, signal)).rejects.toMatchObject({
    message: "Cluster default/nope does not exist. Clusters in the namespace: web",
  });
  const elsewhere = describeCluster("nope", { kubeconfig, output: "table", namespace: "empty" }, signal);
  await expect(elsewhere).rejects.toMatchObject({
    message: "Cluster empty/nope does not exist. The namespace has no clusters",
  });
});
