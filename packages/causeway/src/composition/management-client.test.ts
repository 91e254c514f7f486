import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { ConfigMap, createInformers, type KubernetesClient } from "@causeway/kubernetes";
import { afterEach, beforeEach, expect, test } from "vitest";
import { managementClient } from "./management-client.ts";

let apiServer: ApiServer;
let requests: string[];
let client: KubernetesClient;

beforeEach(async () => {
  apiServer = await startApiServer();
  requests = [];
  const asked = (name: string | symbol) => () => {
    requests.push(String(name));
    return Promise.resolve({});
  };
  const remote = new Proxy({} as KubernetesClient, { get: (_, name) => asked(name) });
  client = managementClient(apiServer, remote);
});

afterEach(() => apiServer.close());

const key = { namespace: "default", name: "a" };
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: key, data: { x: "1" } } as const;

test("the management client reads, writes and feeds informers without a request", async () => {
  await client.create(ConfigMap, map);
  const informers = createInformers(client);
  const maps = informers.for(ConfigMap);
  const stop = new AbortController();
  const running = informers.run(stop.signal);
  await maps.whenSynced();
  await informers.client.patch(ConfigMap, key, { type: "merge", body: { data: { x: "2" } } });
  await informers.client.apply(ConfigMap, { ...map, data: { y: "1" } }, { fieldManager: "tester" });
  expect(maps.get(key)?.data).toEqual({ x: "2", y: "1" });
  await client.update(ConfigMap, { ...(await client.get(ConfigMap, key)), data: {} });
  await client.delete(ConfigMap, key);
  expect(await client.find(ConfigMap, key)).toBeUndefined();
  stop.abort();
  await running;
  expect(requests).toEqual([]);
  await client.request("GET", "/version");
  expect(requests).toEqual(["request"]);
});

test("the management client writes with the manager of its requests, and its answers are the caller's to change", async () => {
  const made = await client.create(ConfigMap, map);
  expect(made.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["causeway"]);
  for (const answer of [made, await client.get(ConfigMap, key), (await client.list(ConfigMap)).items[0]]) {
    Object.assign(answer?.data ?? {}, { x: "changed" });
  }
  expect((await client.get(ConfigMap, key)).data).toEqual({ x: "1" });
});
