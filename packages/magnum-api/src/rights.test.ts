/** What the API may do in the management cluster: deploy/magnum-api/rbac.yaml is enough for all that it does. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { labels, Machine, MachineDeployment, MagnumCluster } from "@causeway/api";
import { createAuthority, createRequest } from "@causeway/foundation";
import { Secret, type KubeObject, type KubernetesClient, type ResourceType } from "@causeway/kubernetes";
import { loadCloudsYaml } from "@causeway/openstack";
import { parseAllDocuments } from "yaml";
import { openStage, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 120_000 });

const account = "system:serviceaccount:causeway-system:magnum-api";
const groups = ["system:serviceaccounts", "system:serviceaccounts:causeway-system"];

type Rule = Readonly<Record<"apiGroups" | "resources" | "verbs", readonly string[]>>;
type Manifest = KubeObject & { readonly rules?: readonly Rule[] };

const file = join(import.meta.dirname, "../../../deploy/magnum-api/rbac.yaml");
const manifests = parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest);

const dir = mkdtempSync(join(tmpdir(), "magnum-rights-"));
const log = join(dir, "audit.log");
let stage: Stage;
beforeAll(async () => {
  const identity = { commonName: account, organizations: groups };
  stage = await openStage({
    account: { identity, namespace: "causeway-system", log, grant },
    trustees: (text) => ({
      account: loadCloudsYaml({ cloud: "simulator-admin", text }),
      domain: "default",
      roles: ["member"],
    }),
  });
});
afterAll(async () => {
  await stage.close();
  rmSync(dir, { recursive: true });
});

async function grant(client: KubernetesClient): Promise<void> {
  for (const object of manifests) {
    const [group = "", version = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", "v1"];
    const plural = `${object.kind.toLowerCase()}s`;
    const namespaced = object.metadata.namespace !== undefined;
    const type: ResourceType<Manifest> = { group, version, kind: object.kind, plural, namespaced };
    await client.create(type, object);
  }
}

/** What the API requested, "verb resource" each, once; and what of it was refused. */
function asked(): { readonly all: ReadonlySet<string>; readonly refused: ReadonlySet<string> } {
  const all = new Set<string>();
  const refused = new Set<string>();
  // What comes after the last end of a line is still being written.
  for (const line of readFileSync(log, "utf8").split("\n").slice(0, -1)) {
    const event = JSON.parse(line) as {
      stage: string;
      verb: string;
      user: { username: string };
      objectRef?: { resource: string; subresource?: string };
      responseStatus?: { code: number };
    };
    if (event.user.username !== account || event.stage === "RequestReceived") continue;
    const { resource = "", subresource } = event.objectRef ?? {};
    const what = `${event.verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
    all.add(what);
    if (event.responseStatus?.code === 403) refused.add(what);
  }
  return { all, refused };
}

const call = (method: string, path: string, body?: unknown, who = "demo"): Promise<Reply> =>
  stage.call(who, method, `/v1/${path}`, { body });

async function expected(status: number, reply: Promise<Reply>): Promise<Reply["body"]> {
  const { body, ...rest } = await reply;
  expect([rest.status, rest.status === status ? "" : JSON.stringify(body)]).toEqual([status, ""]);
  return body;
}

const template = {
  name: "t",
  coe: "kubernetes",
  image_id: "cirros",
  flavor_id: "m1.small",
  external_network_id: "public",
};
const soon = { timeout: 30_000 };

it("with these rights a cluster is made, changed in every way and deleted, and hardly one of them is unused", async () => {
  const { client } = stage;
  const project = await templatesAndQuota();
  const healing = { auto_healing_enabled: "true" };
  const from = await expected(201, call("POST", "clustertemplates", { ...template, labels: healing }));
  const to = await expected(201, call("POST", "clustertemplates", { ...template, labels: { kube_tag: "v1.34.1" } }));
  const created = await expected(202, call("POST", "clusters", { cluster_template_id: from["uuid"], node_count: 2 }));
  const uuid = String(created["uuid"]);
  const [row] = (await client.list(MagnumCluster)).items;
  const { namespace = "", name = "" } = row?.metadata ?? {};
  expect(namespace).toBe(`magnum-${project}`);
  const key = { namespace, name };
  const pools = async () => (await client.list(MachineDeployment, { namespace })).items;
  await expect.poll(async () => (await pools()).length, soon).toBe(1);

  const group = row?.spec.nodeGroups[0]?.uuid ?? "";
  const machine = (suffix: string): Promise<Machine> =>
    client.create(Machine, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: {
        ...key,
        name: `${name}-${suffix}`,
        labels: { [labels.clusterName]: name, "magnum.causeway.dev/nodegroup": group },
      },
      spec: {
        clusterName: name,
        bootstrap: { dataSecretName: "none" },
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: suffix },
      },
    } as Machine);
  const [first] = [await machine("a"), await machine("b")];
  /** No machines are made here: the cluster is completed by hand, and each change while it is. */
  const change = (method: string, path: string, body: unknown): Promise<unknown> =>
    expect
      .poll(async () => {
        const { metadata } = await client.get(MagnumCluster, key);
        const status = { status: "UPDATE_COMPLETE", created: true, observedGeneration: metadata.generation };
        const merge = {
          type: "merge",
          body: { status: { ...status, apiAddress: "https://x", changingSince: null } },
        } as const;
        await client.patch(MagnumCluster, key, merge, { subresource: "status" });
        const reply = await call(method, `clusters/${uuid}${path}`, body);
        return reply.status < 300 ? "accepted" : JSON.stringify(reply.body);
      }, soon)
      .toBe("accepted");
  const remove = { node_count: 1, nodes_to_remove: [first.metadata.name] };
  await change("POST", "/actions/resize", remove);
  await expect
    .poll(async () => (await client.get(Machine, { namespace, name: first.metadata.name })).metadata.annotations, soon)
    .toHaveProperty(["cluster.x-k8s.io/delete-machine"]);
  // A later request names none: the machine is no longer the first to go.
  await change("POST", "/actions/resize", { node_count: 2 });
  await expect
    .poll(
      async () => (await client.get(Machine, { namespace, name: first.metadata.name })).metadata.annotations ?? {},
      soon,
    )
    .not.toHaveProperty(["cluster.x-k8s.io/delete-machine"]);
  await change("POST", "/nodegroups", { name: "more", node_count: 1, labels: healing });
  await expect.poll(async () => (await pools()).length, soon).toBe(2);
  await change("DELETE", "/nodegroups/more", undefined);
  await expect.poll(async () => (await pools()).length, soon).toBe(1);
  await expect.poll(async () => (await call("GET", `clusters/${uuid}/nodegroups/more`)).status, soon).toBe(404);
  await change("POST", "/actions/upgrade", { cluster_template: to["uuid"] });
  await settle(pools);
  await expected(202, call("PATCH", `credentials/${uuid}`));
  await sign(uuid, key);
  // An operator has the cluster keep its own add-ons.
  await client.patch(MagnumCluster, key, { type: "merge", body: { spec: { addons: "Own" } } });
  await expect.poll(() => asked().all.has("delete addonsets"), soon).toBe(true);

  await expected(204, call("DELETE", `clusters/${uuid}`));
  for (const suffix of ["a", "b"])
    await client.delete(Machine, { namespace, name: `${name}-${suffix}` }).catch(() => {});
  await expect.poll(async () => (await call("GET", `clusters/${uuid}`)).status, soon).toBe(404);

  const granted = manifests
    .flatMap(({ rules }) => rules ?? [])
    .flatMap(({ resources, verbs }) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)));
  // Rarely needed, or checked by the server without an event of its own.
  const rare = ["update leases", "patch events", "update magnumclusters/finalizers"];
  const isApplied = (right: string) => right.startsWith("create ") && asked().all.has(right.replace("create", "patch"));
  const unused = () => granted.filter((right) => !asked().all.has(right) && !rare.includes(right) && !isApplied(right));
  // A call is recorded just after its response.
  await expect.poll(unused, soon).toEqual([]);
  expect([...asked().refused]).toEqual([]);
});

/** Every verb on templates and quotas; the id of the project. */
async function templatesAndQuota(): Promise<string> {
  const made = await expected(201, call("POST", "clustertemplates", template));
  const path = `clustertemplates/${String(made["uuid"])}`;
  await expected(200, call("PATCH", path, [{ op: "replace", path: "/name", value: "other" }]));
  await expected(204, call("DELETE", path));
  const project = String(made["project_id"]);
  const quota = { project_id: project, resource: "Cluster", hard_limit: 5 };
  await expected(201, call("POST", "quotas", quota, "admin"));
  await expected(202, call("PATCH", `quotas/${project}/Cluster`, { ...quota, hard_limit: 6 }, "admin"));
  await expected(204, call("DELETE", `quotas/${project}/Cluster`, undefined, "admin"));
  return project;
}

/** As their controller, says that all nodes of the pools are as they are to be, until the old templates are deleted. */
async function settle(pools: () => Promise<readonly MachineDeployment[]>): Promise<void> {
  await expect
    .poll(async () => {
      for (const { metadata, spec } of await pools()) {
        const status = { upToDateReplicas: spec.replicas ?? 1, observedGeneration: metadata.generation };
        const { namespace = "", name } = metadata;
        const merge = { type: "merge", body: { status } } as const;
        await stage.client.patch(MachineDeployment, { namespace, name }, merge, { subresource: "status" });
      }
      return asked().all.has("delete openstackmachinetemplates");
    }, soon)
    .toBe(true);
}

async function sign(uuid: string, { namespace, name }: { namespace: string; name: string }): Promise<void> {
  const authority = await createAuthority({ commonName: "kubernetes", lifetime: 86_400_000 });
  const encode = (text: string) => Buffer.from(text).toString("base64");
  await stage.client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name: `${name}-ca` },
    data: { "tls.crt": encode(authority.certificate), "tls.key": encode(authority.key) },
  });
  const { request: csr } = await createRequest({ commonName: "admin", organizations: ["system:masters"] });
  await expected(201, call("POST", "certificates", { cluster_uuid: uuid, csr }));
}
