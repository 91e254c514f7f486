/** No process leads: what is deleted then waits for one, which revokes the credential. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { CausewayError, silentLog } from "@causeway/foundation";
import { createInformers, keyOf, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml } from "@causeway/openstack";
import { readCredential, type ClusterCredential } from "./cluster/credentials.ts";
import { startMagnum } from "./magnum-api.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
let template: unknown;
/** What happens in place of the write that shows a new row. */
let showing: (() => Promise<never>) | undefined;

const through = (client: KubernetesClient): KubernetesClient =>
  new Proxy(client, {
    get(target, name) {
      const found = Reflect.get(target, name) as unknown;
      if (name !== "update") return typeof found === "function" ? (found.bind(target) as unknown) : found;
      const update: KubernetesClient["update"] = async (type, object, options) => {
        if (object.kind === MagnumCluster.kind) await showing?.();
        return target.update(type, object, options);
      };
      return update;
    },
  });

beforeAll(async () => {
  stage = await openStage({ isFollower: true, through });
  const body = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
  const made = await stage.call("demo", "POST", "/v1/clustertemplates", {
    body: { ...body, external_network_id: "public" },
  });
  template = made.body["uuid"];
});
afterAll(() => stage.close());

async function works({ id, secret }: ClusterCredential): Promise<boolean> {
  const { scope: _, ...config } = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  return issueToken({ ...config, auth: { type: "application_credential", id, secret } }).then(
    () => true,
    () => false,
  );
}

/** The row of a cluster, and its credential. */
async function create(name: string) {
  const body = { name, cluster_template_id: template };
  const { uuid } = (await stage.call("demo", "POST", "/v1/clusters", { body })).body;
  const labelSelector = `magnum.causeway.dev/uuid=${String(uuid)}`;
  const [row] = (await stage.client.list(MagnumCluster, { labelSelector })).items;
  const credential = row && (await readCredential(stage.client, row));
  if (row === undefined || credential === undefined) throw new Error("the cluster has no credential");
  return { row, credential, path: `/v1/clusters/${String(uuid)}` };
}

/** While the work is done, a process leads. */
async function whileLed(work: () => Promise<unknown>): Promise<void> {
  const using = { clock: stage.clock, log: silentLog };
  const informers = createInformers(stage.client, using);
  const keystone = { name: "simulator", authUrl: stage.simulator.authUrl };
  const leader = await startMagnum({ informers, keystone, host: "127.0.0.1", port: 0, ...using });
  const stopping = new AbortController();
  const running = Promise.all([informers.run(stopping.signal), leader.run(stopping.signal)]);
  try {
    await work();
  } finally {
    stopping.abort();
    await running;
  }
}

it.each([
  ["that no controller has seen", false],
  ["of a release that wrote no finalizer", true],
])("a cluster %s is deleted with its credential once a process leads", async (_, isOld) => {
  const { row, credential, path } = await create("early");
  if (isOld) {
    const body = { metadata: { finalizers: null } };
    await stage.client.patch(MagnumCluster, keyOf(row), { type: "merge", body });
  }
  expect((await stage.call("demo", "DELETE", path)).status).toBe(204);
  const shown = await stage.call("demo", "GET", path);
  expect([shown.status, shown.body["status"]]).toEqual([200, "DELETE_IN_PROGRESS"]);
  expect(await works(credential)).toBe(true);
  await whileLed(() =>
    expect.poll(async () => (await stage.call("demo", "GET", path)).status, { timeout: 30_000 }).toBe(404),
  );
  expect(await works(credential)).toBe(false);
  expect(await stage.client.find(MagnumCluster, keyOf(row))).toBeUndefined();
});

it("a create that cannot be shown leaves neither row nor credential, though no process leads", async () => {
  const { credential } = await create("first");
  const own = connectCloud(loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml }));
  const left = async () => ({
    rows: (await stage.client.list(MagnumCluster)).items.map(({ spec }) => spec.name),
    credentials: (await own.identity.applicationCredentials(credential.userId).all({})).map(({ id }) => id),
  });
  const before = await left();
  showing = async () => {
    throw new CausewayError("KUBERNETES_UNREACHABLE", "the store is away");
  };
  try {
    const body = { name: "hidden", cluster_template_id: template };
    expect((await stage.call("demo", "POST", "/v1/clusters", { body })).status).toBeGreaterThanOrEqual(500);
    expect(await left()).toEqual(before);
  } finally {
    showing = undefined;
    await own.close();
  }
});
