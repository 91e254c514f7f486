import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { Cluster, MagnumCluster } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { Secret, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { readCredential, type ClusterCredential } from "./cluster/credentials.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

const PASSWORD = "it will be deleted";

let stage: Stage;
let admin: Cloud;
/** What happens after the API has written a Secret, before it knows. */
let written: (() => Promise<unknown>) | undefined;
/** What happens before the controller takes its finalizer off a row, once it has revoked the credential. */
let releasing: (() => Promise<unknown>) | undefined;
/** What happens in place of the write that shows a new row. */
let showing: (() => Promise<never>) | undefined;

const through = (client: KubernetesClient): KubernetesClient =>
  new Proxy(client, {
    get(target, name) {
      const found = Reflect.get(target, name) as unknown;
      const patch: KubernetesClient["patch"] = async (type, key, body, options) => {
        const isRelease = type.kind === MagnumCluster.kind && body.type === "json";
        if (isRelease && body.body.some(({ op }) => op === "remove")) await releasing?.();
        return target.patch(type, key, body, options);
      };
      if (name === "patch") return patch;
      if (name !== "update") return typeof found === "function" ? (found.bind(target) as unknown) : found;
      const update: KubernetesClient["update"] = async (type, object, options) => {
        if (object.kind === MagnumCluster.kind) await showing?.();
        const result = await target.update(type, object, options);
        if (object.kind === Secret.kind) await written?.();
        return result;
      };
      return update;
    },
  });

beforeAll(async () => {
  stage = await openStage({ through });
  admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text: stage.simulator.cloudsYaml }));
});
afterAll(async () => {
  await admin.close();
  await stage.close();
});

/** Whether a cluster's credential gets a token. */
async function works({ id, secret }: ClusterCredential): Promise<boolean> {
  const { scope: _, ...config } = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  return issueToken({ ...config, auth: { type: "application_credential", id, secret } }).then(
    () => true,
    () => false,
  );
}

async function credentialOf(uuid: unknown): Promise<ClusterCredential> {
  const { items } = await stage.client.list(MagnumCluster, {
    labelSelector: `magnum.causeway.dev/uuid=${String(uuid)}`,
  });
  const [cluster] = items;
  const found = cluster && (await readCredential(stage.client, cluster));
  if (found === undefined) throw new Error(`the cluster ${String(uuid)} has no credential`);
  return found;
}

it("a cluster whose creator's user is deleted is adopted by another member of the project", async () => {
  const config = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  const { projectId = "" } = await issueToken(config);
  const user = await admin.identity.users.create({ name: "creator", password: PASSWORD });
  const [role] = await admin.identity.roles.all({ name: "member" });
  await admin.identity.grant({ role: role?.id ?? "", user: user.id, project: projectId });
  const auth = { type: "password", userId: user.id, password: PASSWORD } as const;
  stage.tokens.set("creator", (await issueToken({ ...config, auth, scope: { projectId } })).token);
  const template = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
  const made = await stage.call("creator", "POST", "/v1/clustertemplates", {
    body: { ...template, external_network_id: "public" },
  });
  const cluster = await stage.call("creator", "POST", "/v1/clusters", {
    body: { name: "orphan", cluster_template_id: made.body["uuid"] },
  });
  expect(cluster.status).toBe(202);
  const { uuid } = cluster.body;
  const before = await credentialOf(uuid);
  expect(before.userId).toBe(user.id);
  expect(await works(before)).toBe(true);

  await admin.identity.users.delete(user.id);
  expect(await works(before)).toBe(false);
  const path = `/v1/credentials/${String(uuid)}`;
  expect((await stage.call("alt", "PATCH", path)).status).toBe(404);
  expect((await stage.call("reader", "PATCH", path)).status).toBe(403);
  expect(await credentialOf(uuid)).toEqual(before);
  expect((await stage.call("demo", "PATCH", path)).status).toBe(202);
  const after = await credentialOf(uuid);
  expect(after.userId).not.toBe(user.id);
  expect(await works(after)).toBe(true);

  expect((await stage.call("demo", "DELETE", `/v1/clusters/${String(uuid)}`)).status).toBe(204);
  await expect
    .poll(async () => (await stage.call("demo", "GET", `/v1/clusters/${String(uuid)}`)).status, { timeout: 30_000 })
    .toBe(404);
  expect(await works(after)).toBe(false);
});

it("the new owner of a cluster with a key pair needs one of its name, unless the cluster is being deleted", async () => {
  const config = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  const { projectId = "" } = await issueToken(config);
  const user = await admin.identity.users.create({ name: "key-owner", password: PASSWORD });
  const [role] = await admin.identity.roles.all({ name: "member" });
  await admin.identity.grant({ role: role?.id ?? "", user: user.id, project: projectId });
  const auth = { type: "password", userId: user.id, password: PASSWORD } as const;
  const theirs = { ...config, auth, scope: { projectId } };
  stage.tokens.set("key-owner", (await issueToken(theirs)).token);
  const [own, demo] = [connectCloud(theirs), connectCloud(config)];
  const pair = {
    name: "theirs",
    public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHnGzFqGvT9Yb2sGJH1R2yhB0bRrQmVJzEoq0iM8mO5b",
  };
  await own.compute.keypairs.create(pair);
  const made = await create("keyed", { who: "key-owner", keypair: pair.name });
  const path = `/v1/credentials/${String(made.body["uuid"])}`;
  const before = await credentialOf(made.body["uuid"]);
  const refused = await stage.call("demo", "PATCH", path);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining("create one of this name (openstack keypair create theirs)"),
  ]);
  expect(await credentialOf(made.body["uuid"])).toEqual(before);
  // Its owner renews it also without one.
  await own.compute.keypairs.delete(pair.name);
  expect((await stage.call("key-owner", "PATCH", path)).status).toBe(202);
  await demo.compute.keypairs.create(pair);
  expect((await stage.call("demo", "PATCH", path)).status).toBe(202);
  await demo.compute.keypairs.delete(pair.name);
  await Promise.all([own.close(), demo.close()]);
  await admin.identity.users.delete(user.id);
  expect((await stage.call("demo", "DELETE", `/v1/clusters/${String(made.body["uuid"])}`)).status).toBe(204);
});

/** A cluster of which nothing is in the cloud. */
async function create(name: string, { who = "demo", ...more }: { who?: string; keypair?: string } = {}) {
  const template = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
  const made = await stage.call(who, "POST", "/v1/clustertemplates", {
    body: { ...template, external_network_id: "public" },
  });
  return stage.call(who, "POST", "/v1/clusters", { body: { name, cluster_template_id: made.body["uuid"], ...more } });
}

const isGone = (uuid: string) =>
  expect
    .poll(async () => (await stage.call("demo", "GET", `/v1/clusters/${uuid}`)).status, { timeout: 30_000 })
    .toBe(404);

describe("a credential that is renewed at the end of a deletion", () => {
  afterEach(() => (written = releasing = undefined));

  it("is revoked when it is written between the old one's revocation and the end", async () => {
    const uuid = String((await create("late")).body["uuid"]);
    const before = await credentialOf(uuid);
    let late: { readonly status: number; readonly credential: ClusterCredential } | undefined;
    releasing = async () => {
      releasing = undefined;
      expect(await works(before)).toBe(false);
      const { status } = await stage.call("demo", "PATCH", `/v1/credentials/${uuid}`);
      late = { status, credential: await credentialOf(uuid) };
      expect(await works(late.credential)).toBe(true);
    };
    expect((await stage.call("demo", "DELETE", `/v1/clusters/${uuid}`)).status).toBe(204);
    await isGone(uuid);
    expect(late?.status).toBe(202);
    expect(late && (await works(late.credential))).toBe(false);
  });

  it("is revoked when the deletion began and ended after it was written", async () => {
    const uuid = String((await create("quick")).body["uuid"]);
    let issued: ClusterCredential | undefined;
    written = async () => {
      written = undefined;
      issued = await credentialOf(uuid);
      const [row] = (await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` }))
        .items;
      const { namespace = "", name = "" } = row?.metadata ?? {};
      // The row ends before the controller has read the new credential.
      await stage.client.patch(
        MagnumCluster,
        { namespace, name },
        { type: "merge", body: { metadata: { finalizers: [] } } },
      );
      await stage.client.delete(MagnumCluster, { namespace, name });
      await isGone(uuid);
    };
    expect((await stage.call("demo", "PATCH", `/v1/credentials/${uuid}`)).status).toBe(404);
    expect(issued && (await works(issued))).toBe(false);
  });
});

it("a create whose row cannot be shown leaves no credential", async () => {
  const config = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  const own = connectCloud(config);
  const { userId } = await credentialOf((await create("first")).body["uuid"]);
  const names = async () =>
    (await own.identity.applicationCredentials(userId).all({})).map(({ name }) => name).toSorted();
  const before = await names();
  showing = async () => {
    throw new CausewayError("KUBERNETES_UNREACHABLE", "the store is away");
  };
  try {
    expect((await create("hidden")).status).toBeGreaterThanOrEqual(500);
    expect(await names()).toEqual(before);
  } finally {
    showing = undefined;
    await own.close();
  }
});

describe("a cluster that is being deleted", () => {
  const finalizer = "test.causeway.dev/wait";
  let uuid: string;

  /** What a cloud that refuses the credential comes to: the Cluster remains. */
  async function keepCluster(finalizers: readonly string[]): Promise<void> {
    const { items } = await stage.client.list(Cluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
    for (const { metadata } of items) {
      const key = { namespace: metadata.namespace ?? "", name: metadata.name };
      await stage.client.patch(Cluster, key, { type: "merge", body: { metadata: { finalizers } } });
    }
    expect(items).toHaveLength(1);
  }
  const path = (): string => `/v1/clusters/${uuid}`;

  beforeEach(async () => {
    uuid = String((await create("leaving")).body["uuid"]);
    await expect
      .poll(
        () =>
          keepCluster([finalizer]).then(
            () => true,
            () => false,
          ),
        { timeout: 30_000 },
      )
      .toBe(true);
    expect((await stage.call("demo", "DELETE", path())).status).toBe(204);
  });
  afterEach(() => (written = undefined));

  it("gets another credential, which is revoked with it", async () => {
    const before = await credentialOf(uuid);
    expect((await stage.call("demo", "PATCH", `/v1/credentials/${uuid}`)).status).toBe(202);
    const after = await credentialOf(uuid);
    expect([await works(before), await works(after)]).toEqual([false, true]);
    await keepCluster([]);
    await isGone(uuid);
    expect(await works(after)).toBe(false);
  });

  it("leaves no credential when it goes while another one is written", async () => {
    let issued: ClusterCredential | undefined;
    written = async () => {
      issued = await credentialOf(uuid);
      expect(await works(issued)).toBe(true);
      // The controller has read the credential of before.
      const { items } = await stage.client.list(MagnumCluster, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
      for (const { metadata } of items) {
        const key = { namespace: metadata.namespace ?? "", name: metadata.name };
        await stage.client.patch(MagnumCluster, key, { type: "merge", body: { metadata: { finalizers: [] } } });
      }
      await isGone(uuid);
    };
    expect((await stage.call("demo", "PATCH", `/v1/credentials/${uuid}`)).status).toBe(404);
    expect(issued && (await works(issued))).toBe(false);
    written = undefined;
    await keepCluster([]);
  });
});

it.each([
  ["demo", "simulator", ["member", "reader", "load-balancer_member", "creator"]],
  ["admin", "simulator-admin", ["member", "reader", "creator"]],
])("a cluster of %s has a credential with the roles that clusters need, and no other", async (who, name, expected) => {
  const template = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
  const made = await stage.call(who, "POST", "/v1/clustertemplates", {
    body: { ...template, external_network_id: "public" },
  });
  const body = { name: "modest", cluster_template_id: made.body["uuid"] };
  const cluster = await stage.call(who, "POST", "/v1/clusters", { body });
  expect(cluster.status).toBe(202);
  const { id, userId } = await credentialOf(cluster.body["uuid"]);
  const own = connectCloud(loadCloudsYaml({ cloud: name, text: stage.simulator.cloudsYaml }));
  const { roles } = await own.identity.applicationCredentials(userId).get(id);
  await own.close();
  expect(roles.map((role) => role.name).toSorted()).toEqual(expected.toSorted());
});
