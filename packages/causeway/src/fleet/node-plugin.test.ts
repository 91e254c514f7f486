import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createClient, DaemonSet, loadKubeconfig, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installNodePlugin } from "./node-plugin.ts";

const key = { namespace: "kube-system", name: "csi-cinder-nodeplugin" };
const { signal } = new AbortController();
let server: ApiServer;
let client: KubernetesClient;
beforeAll(async () => {
  server = await startApiServer({});
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
});
afterAll(async () => {
  await client.close();
  await server.close();
});

const image = async () => (await client.get(DaemonSet, key)).spec.template.spec?.containers[0]?.image;

test("the node plugin is installed, and gets the image that the fleet was started with last", async () => {
  await installNodePlugin(client, "registry.example/causeway:1", signal);
  expect(await image()).toBe("registry.example/causeway:1");
  const account = await client.get(ServiceAccount, { namespace: "kube-system", name: "csi-cinder-node-sa" });
  expect(account.automountServiceAccountToken).toBe(false);
  await installNodePlugin(client, "registry.example/causeway:2", signal);
  expect(await image()).toBe("registry.example/causeway:2");
});

test("a node plugin that another program installed is left as it is", async () => {
  const labels = { "app.kubernetes.io/managed-by": "Helm" };
  await client.patch(DaemonSet, key, { type: "merge", body: { metadata: { labels } } });
  const before = await client.get(DaemonSet, key);
  await installNodePlugin(client, "registry.example/causeway:3", signal);
  expect(await client.get(DaemonSet, key)).toEqual(before);
});

const second = { namespace: "kube-system", name: "causeway-csi-cinder-nodeplugin" };
const placeOf = async () => (await client.get(DaemonSet, second)).spec.template.spec?.nodeSelector;

test("next to the node plugin of Magnum's Heat driver it runs on other nodes, and on all when the driver's is gone", async () => {
  const there = (await client.get(DaemonSet, key)).spec.template.spec?.volumes ?? [];
  const volumes = [...there, { name: "secret-cinderplugin", secret: { secretName: "cinder-csi-cloud-config" } }];
  await client.patch(DaemonSet, key, { type: "merge", body: { spec: { template: { spec: { volumes } } } } });
  const before = await client.get(DaemonSet, key);
  await installNodePlugin(client, "registry.example/causeway:4", signal);
  expect(await client.get(DaemonSet, key)).toEqual(before);
  expect(await placeOf()).toEqual({ "magnum.causeway.dev/kube-proxy": "true" });
  await client.delete(DaemonSet, key, { propagationPolicy: "Background" });
  await installNodePlugin(client, "registry.example/causeway:5", signal);
  expect(await placeOf()).toBeUndefined();
  expect(await client.find(DaemonSet, key)).toBeUndefined();
});
