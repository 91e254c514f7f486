import { startApiServer } from "@causeway/apiserver";
import { systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, Namespace, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { perform } from "./perform.ts";
import type { Step } from "./steps.ts";

let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubernetesClient;
beforeAll(async () => {
  server = await startApiServer();
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
});
afterAll(async () => {
  await client.close();
  await server.close();
});

test("a namespace that another leader deleted is not made again from an old cache", async () => {
  const name = "hcp-web";
  const object: Namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { a: "b" } } };
  const step: Step = { type: "apply-namespace", object };
  const using = { client, clock: systemClock, etcd: undefined as never, join: async () => {}, done: () => {} };
  const { signal } = new AbortController();
  await perform(using, step, { namespace: undefined, namespaceName: name }, signal);
  const seen = await client.get(Namespace, { namespace: "", name });
  await perform(using, step, { namespace: seen, namespaceName: name }, signal);
  await client.delete(Namespace, { namespace: "", name });
  await expect.poll(() => client.find(Namespace, { namespace: "", name })).toBeUndefined();
  await expect(perform(using, step, { namespace: seen, namespaceName: name }, signal)).rejects.toThrow("uid mismatch");
  expect(await client.find(Namespace, { namespace: "", name })).toBeUndefined();
});
