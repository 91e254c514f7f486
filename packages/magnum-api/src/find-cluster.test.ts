/** A cluster and a template by their ids: in each form of an id, and without a read of other projects. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { silentLog, systemClock } from "@causeway/foundation";
import { createInformers, keyOf, type KubernetesClient, type ListOptions } from "@causeway/kubernetes";
import { openStore } from "./state/store.ts";
import { openStage, type Reply, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
let template: string;
beforeAll(async () => {
  stage = await openStage({ isFollower: true });
  const { body } = await call("demo", "POST", "/v1/clustertemplates", {
    name: "small",
    coe: "kubernetes",
    image_id: "cirros",
    flavor_id: "m1.small",
    external_network_id: "public",
  });
  template = String(body["uuid"]);
});
afterAll(() => stage.close());

const call = (who: string, method: string, path: string, body?: unknown): Promise<Reply> =>
  stage.call(who, method, path, { body });

async function newCluster(): Promise<MagnumCluster> {
  const { status, body } = await call("demo", "POST", "/v1/clusters", { cluster_template_id: template });
  expect(status).toBe(202);
  const { items } = await stage.client.list(MagnumCluster, {
    labelSelector: `magnum.causeway.dev/uuid=${String(body["uuid"])}`,
  });
  if (items[0] === undefined) throw new Error("the cluster was not written");
  return items[0];
}

it.each<[string, (uuid: string) => string]>([
  ["without dashes", (uuid) => uuid.replaceAll("-", "")],
  ["in upper case", (uuid) => uuid.toUpperCase()],
])("an id %s is that of the same cluster and template", async (_, write) => {
  const { uuid } = (await newCluster()).spec;
  const cluster = await call("demo", "GET", `/v1/clusters/${write(uuid)}`);
  expect([cluster.status, cluster.body["uuid"]]).toEqual([200, uuid]);
  const found = await call("demo", "GET", `/v1/clustertemplates/${write(template)}`);
  expect([found.status, found.body["uuid"]]).toEqual([200, template]);
});

it("an id that is not known here is searched for in the project's namespace, by an administrator in all", async () => {
  const cluster = await newCluster();
  const { uuid, projectID } = cluster.spec;
  const { namespace } = keyOf(cluster);
  const scopes: (string | undefined)[] = [];
  const client = new Proxy(stage.client, {
    get(target, name, receiver) {
      if (name !== "list") return Reflect.get(target, name, receiver) as unknown;
      return (type: typeof MagnumCluster, options: ListOptions = {}) => {
        scopes.push(options.namespace);
        return target.list(type, options);
      };
    },
  }) satisfies KubernetesClient;
  // Its informers do not run: it knows no cluster.
  const store = openStore(createInformers(client, { clock: systemClock, log: silentLog }));
  const { signal } = new AbortController();
  expect((await store.cluster(uuid, projectID, signal))?.spec.uuid).toBe(uuid);
  expect(await store.cluster(uuid, "another", signal)).toBeUndefined();
  expect((await store.cluster(uuid, undefined, signal))?.spec.uuid).toBe(uuid);
  expect(scopes).toEqual([namespace, "magnum-another", undefined]);
});
