/**
 * The Magnum API over a management cluster of a real kube-apiserver with etcd, with the rights of deploy/magnum-api and
 * no others: what it writes is accepted there, and what it reads is there.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  addonKinds,
  AddonSet,
  allKinds,
  Cluster,
  HostedControlPlane,
  MachineDeployment,
  MachineHealthCheck,
  MagnumCluster,
  magnumKinds,
  OpenStackCluster,
  toCustomResourceDefinition,
} from "@causeway/api";
import { issueCertificate } from "@causeway/foundation";
import {
  CustomResourceDefinition,
  Secret,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { openStage, type Stage } from "@causeway/magnum-api/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { administrator, kubeconfigOf, servers, startServer, type Server } from "./servers.ts";

const real = servers().find(({ name }) => name === "kube-apiserver");
const soon = { timeout: 60_000, interval: 200 };
const identity = {
  commonName: "system:serviceaccount:causeway-system:magnum-api",
  organizations: ["system:serviceaccounts", "system:serviceaccounts:causeway-system"],
};

/** The API's own kubeconfig: of its service account, by a certificate. */
async function own({ target }: Server): Promise<string> {
  const { certificate, key } = await issueCertificate(target.authority, {
    ...identity,
    usages: ["client"],
    lifetime: 86_400_000,
  });
  const encode = (text: string) => Buffer.from(text).toString("base64");
  return kubeconfigOf(target, { "client-certificate-data": encode(certificate), "client-key-data": encode(key) });
}

async function installDefinitions(client: KubernetesClient): Promise<void> {
  for (const kind of [...allKinds, ...addonKinds, ...magnumKinds])
    await client.apply(CustomResourceDefinition, toCustomResourceDefinition(kind), { fieldManager: "test" });
  const served = async () =>
    (await client.list(CustomResourceDefinition)).items.map(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True"),
    );
  await vi.waitFor(async () => expect(new Set(await served())).toEqual(new Set([true])), soon);
}

async function grant(client: KubernetesClient): Promise<void> {
  await installDefinitions(client);
  const file = join(import.meta.dirname, "../../deploy/magnum-api/rbac.yaml");
  for (const document of parseAllDocuments(readFileSync(file, "utf8"))) {
    const object = document.toJS() as KubeObject;
    const [group = "", version = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", "v1"];
    const namespaced = object.metadata.namespace !== undefined;
    const plural = `${object.kind.toLowerCase()}s`;
    const type: ResourceType<KubeObject> = { group, version, kind: object.kind, plural, namespaced };
    await client.apply(type, object, { fieldManager: "test" });
  }
}

describe.skipIf(real === undefined || real.missing !== undefined)("the Magnum API over kube-apiserver", () => {
  let server: Server;
  let stage: Stage;
  beforeAll(async () => {
    server = await startServer("kube-apiserver");
    stage = await openStage({
      kubeconfigs: { administrator: await administrator(server.target), own: await own(server) },
      account: { identity, namespace: "causeway-system", log: "", grant },
    });
  });
  afterAll(async () => {
    await stage?.close();
    await server?.close();
  });

  const call = async (status: number, method: string, path: string, body?: unknown) => {
    const reply = await stage.call("demo", method, `/v1/${path}`, { body });
    expect([reply.status, reply.status === status ? "" : reply.body]).toEqual([status, ""]);
    return reply.body;
  };
  const template = { coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" };

  test("a cluster is made, changed, given new credentials and deleted", async () => {
    const { client } = stage;
    const labels = { auto_healing_enabled: "true", ingress_controller: "octavia" };
    const from = await call(201, "POST", "clustertemplates", { ...template, name: "t", labels });
    const created = await call(202, "POST", "clusters", {
      name: "web",
      cluster_template_id: from["uuid"],
      node_count: 2,
    });
    const uuid = String(created["uuid"]);
    const [row] = (await client.list(MagnumCluster)).items;
    const { namespace = "", name = "" } = row?.metadata ?? {};
    const kinds = [
      Cluster,
      HostedControlPlane,
      OpenStackCluster,
      MachineDeployment,
      MachineHealthCheck,
      AddonSet,
    ] as readonly ResourceType<KubeObject>[];
    const made = async () =>
      Promise.all(kinds.map(async (kind) => (await client.list(kind, { namespace })).items.length));
    await expect.poll(made, soon).toEqual(kinds.map(() => 1));
    expect(await call(200, "GET", "clusters/web")).toMatchObject({ uuid, status: "CREATE_IN_PROGRESS" });
    expect((await call(200, "GET", `clusters/${uuid}/nodegroups`))["nodegroups"]).toHaveLength(2);

    const secretOf = async () => (await client.list(Secret, { namespace })).items.map(({ data }) => data)[0];
    const before = await secretOf();
    await call(202, "PATCH", `credentials/${uuid}`);
    expect(await secretOf()).not.toEqual(before);

    // No machines are made here: what their controllers would report is written by hand.
    const complete = async (): Promise<void> => {
      const { metadata } = await client.get(MagnumCluster, { namespace, name });
      const status = { status: "CREATE_COMPLETE", created: true, observedGeneration: metadata.generation };
      const merge = { type: "merge", body: { status: { ...status, changingSince: null } } } as const;
      await client.patch(MagnumCluster, { namespace, name }, merge, { subresource: "status" });
    };
    await expect
      .poll(async () => {
        await complete();
        const patch = [{ op: "replace", path: "/node_count", value: 3 }];
        return (await stage.call("demo", "PATCH", `/v1/clusters/${uuid}`, { body: patch })).status;
      }, soon)
      .toBe(202);
    const replicas = async () => (await client.list(MachineDeployment, { namespace })).items[0]?.spec.replicas;
    await expect.poll(replicas, soon).toBe(3);

    await call(204, "DELETE", `clusters/${uuid}`);
    await expect.poll(async () => (await stage.call("demo", "GET", `/v1/clusters/${uuid}`)).status, soon).toBe(404);
    await call(204, "DELETE", `clustertemplates/${String(from["uuid"])}`);
  });

  test("pages of clusters have each once, and a quota is kept", async () => {
    const { uuid } = await call(201, "POST", "clustertemplates", { ...template, name: "small" });
    for (let at = 0; at < 7; at += 1)
      await call(202, "POST", "clusters", { name: `c${at}`, cluster_template_id: uuid });
    const seen: string[] = [];
    for (let marker = ""; ;) {
      const page = (await call(200, "GET", `clusters?limit=3${marker}`))["clusters"] as {
        uuid: string;
        name: string;
      }[];
      if (page.length === 0) break;
      seen.push(...page.map(({ name }) => name));
      marker = `&marker=${page.at(-1)?.uuid ?? ""}`;
    }
    expect(seen.toSorted()).toEqual(Array.from({ length: 7 }, (_, at) => `c${at}`));
    const project = (await stage.client.list(MagnumCluster)).items[0]?.spec.projectID;
    const quota = { project_id: project, resource: "Cluster", hard_limit: 7 };
    expect((await stage.call("admin", "POST", "/v1/quotas", { body: quota })).status).toBe(201);
    await expect
      .poll(async () => (await stage.call("demo", "GET", `/v1/quotas/${project}/Cluster`)).body["hard_limit"], soon)
      .toBe(7);
    await call(403, "POST", "clusters", { name: "over", cluster_template_id: uuid });
  });
});
