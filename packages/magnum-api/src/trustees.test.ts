/** Clusters whose credentials are those of a user of their own, who lives as long as they do. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { Secret, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { readCredential, type ClusterCredential } from "./cluster/credentials.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
let admin: Cloud;
let domain: string;
let project: string;
let template: string;
/** Writes of Secrets that fail before one succeeds. */
let refusals = 0;
/** What happens before the controller takes its finalizer off a row, once it has deleted the user. */
let releasing: (() => Promise<unknown>) | undefined;

function through(client: KubernetesClient): KubernetesClient {
  return new Proxy(client, {
    get(target, name) {
      const found = Reflect.get(target, name) as unknown;
      const patch: KubernetesClient["patch"] = async (type, key, body, options) => {
        const isRelease = type.kind === MagnumCluster.kind && body.type === "json";
        if (isRelease && body.body.some(({ op }) => op === "remove")) await releasing?.();
        return target.patch(type, key, body, options);
      };
      if (name === "patch") return patch;
      if (name !== "create") return typeof found === "function" ? (found.bind(target) as unknown) : found;
      const create: KubernetesClient["create"] = async (type, object, options) => {
        if (object.kind === Secret.kind && refusals > 0) {
          refusals -= 1;
          throw new CausewayError("KUBERNETES_UNREACHABLE", "the store is away");
        }
        return target.create(type, object, options);
      };
      return create;
    },
  });
}

beforeAll(async () => {
  stage = await openStage({
    through,
    trustees: (text) => ({
      account: loadCloudsYaml({ cloud: "simulator-admin", text }),
      domain: "clusters",
      roles: ["member"],
    }),
  });
  const text = stage.simulator.cloudsYaml;
  admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text }));
  ({ projectId: project = "" } = await issueToken(loadCloudsYaml({ cloud: "simulator", text })));
  const made = await stage.call("demo", "POST", "/v1/clustertemplates", {
    body: { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" },
  });
  template = String(made.body["uuid"]);
});
afterAll(async () => {
  await admin.close();
  await stage.close();
});

const users = async (): Promise<string[]> =>
  (await admin.identity.users.all({ domain_id: domain })).map(({ name }) => name);

async function works({ id, secret }: ClusterCredential): Promise<boolean> {
  const { scope: _, ...config } = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  return issueToken({ ...config, auth: { type: "application_credential", id, secret } }).then(
    ({ projectId }) => projectId === project,
    () => false,
  );
}

async function credentialOf(uuid: unknown): Promise<ClusterCredential> {
  const labelSelector = `magnum.causeway.dev/uuid=${String(uuid)}`;
  const [cluster] = (await stage.client.list(MagnumCluster, { labelSelector })).items;
  const found = cluster && (await readCredential(stage.client, cluster));
  if (found === undefined) throw new Error(`the cluster ${String(uuid)} has no credential`);
  return found;
}

const create = (who: string) =>
  stage.call(who, "POST", "/v1/clusters", { body: { name: "c", cluster_template_id: template } });

/** Another member of the project, as who `stage` knows her by. */
async function newMember(name: string): Promise<string> {
  const config = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  const user = await admin.identity.users.create({ name, password: "it will be deleted" });
  const [role] = await admin.identity.roles.all({ name: "member" });
  await admin.identity.grant({ role: role?.id ?? "", user: user.id, project });
  const auth = { type: "password", userId: user.id, password: "it will be deleted" } as const;
  stage.tokens.set(name, (await issueToken({ ...config, auth, scope: { projectId: project } })).token);
  return user.id;
}

it("without their domain no cluster is created, and no row is left", async () => {
  expect((await create("demo")).status).toBe(500);
  await expect.poll(async () => (await stage.client.list(MagnumCluster)).items.length, { timeout: 30_000 }).toBe(0);
  domain = (await admin.identity.domains.create({ name: "clusters" })).id;
});

it("a create whose credentials cannot be written leaves no user", async () => {
  refusals = 1;
  expect((await create("demo")).status).toBeGreaterThanOrEqual(500);
  expect(await users()).toEqual([]);
  expect((await stage.client.list(MagnumCluster)).items).toEqual([]);
});

it("the credentials of a cluster outlive the user who created it, and another member renews and deletes them", async () => {
  const creator = await newMember("creator");
  const made = await create("creator");
  expect(made.status).toBe(202);
  const { uuid } = made.body;
  expect(await users()).toEqual([`magnum-${String(uuid)}`]);
  const before = await credentialOf(uuid);
  expect(before.isTrustee).toBe(true);
  const assigned = await admin.identity.roleAssignments.all({ "user.id": before.userId });
  expect(assigned.map(({ scope }) => scope.project?.id)).toEqual([project]);

  await admin.identity.users.delete(creator);
  expect(await works(before)).toBe(true);
  const path = `/v1/clusters/${String(uuid)}`;
  expect((await stage.call("demo", "PATCH", `/v1/credentials/${String(uuid)}`)).status).toBe(202);
  const after = await credentialOf(uuid);
  expect([after.userId, after.id === before.id]).toEqual([before.userId, false]);
  expect([await works(before), await works(after)]).toEqual([false, true]);

  expect((await stage.call("demo", "DELETE", path)).status).toBe(204);
  await expect.poll(async () => (await stage.call("demo", "GET", path)).status, { timeout: 30_000 }).toBe(404);
  expect(await users()).toEqual([]);
  expect(await works(after)).toBe(false);
});

it("a renewal at the end of a deletion leaves no user, though it has created the deleted one again", async () => {
  const uuid = String((await create("demo")).body["uuid"]);
  const path = `/v1/clusters/${uuid}`;
  let late: number | undefined;
  releasing = async () => {
    releasing = undefined;
    expect(await users()).toEqual([]);
    late = (await stage.call("demo", "PATCH", `/v1/credentials/${uuid}`)).status;
    expect(await users()).toEqual([`magnum-${uuid}`]);
  };
  expect((await stage.call("demo", "DELETE", path)).status).toBe(204);
  await expect.poll(async () => (await stage.call("demo", "GET", path)).status, { timeout: 30_000 }).toBe(404);
  expect(late).toBe(202);
  expect(await users()).toEqual([]);
});

it("the user of a cluster has the key pair of its creator, by which its machines are made", async () => {
  const text = stage.simulator.cloudsYaml;
  const demo = connectCloud(loadCloudsYaml({ cloud: "simulator", text }));
  const public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f x";
  await demo.compute.keypairs.create({ name: "mine", public_key });
  const { uuid } = (
    await stage.call("demo", "POST", "/v1/clusters", {
      body: { name: "keyed", cluster_template_id: template, keypair: "mine" },
    })
  ).body;
  const { id, secret } = await credentialOf(uuid);
  const { scope: _, ...config } = loadCloudsYaml({ cloud: "simulator", text });
  const own = connectCloud({ ...config, auth: { type: "application_credential", id, secret } });
  expect((await own.compute.keypairs.get("mine")).public_key).toBe(public_key);
  await Promise.all([own.close(), demo.close()]);
});

it("the credential of a cluster makes no others", async () => {
  const { uuid } = (await create("demo")).body;
  const { id, secret, userId } = await credentialOf(uuid);
  const { scope: _, ...config } = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  const own = connectCloud({ ...config, auth: { type: "application_credential", id, secret } });
  await expect(own.identity.applicationCredentials(userId).create({ name: "more" })).rejects.toThrow();
  await own.close();
});
