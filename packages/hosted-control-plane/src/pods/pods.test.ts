import { startApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import { createClient, createInformers, loadKubeconfig, Namespace } from "@causeway/kubernetes";
import { afterEach, expect, test } from "vitest";
import { createPodsRuntime } from "./controller.ts";
import { idAnnotation, managedBy, managedByLabel, namespaceOf, ownerAnnotation } from "./tenant.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

test("a namespace whose creation took effect after the removal is removed, too", async () => {
  const server = await startApiServer();
  closing.push(() => server.close());
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  closing.push(() => client.close());
  const stop = new AbortController();
  const { signal } = stop;
  const tools = { clock: systemClock, log: silentLog };
  const informers = createInformers(client, tools);
  const settings = { owner: "management" };
  const runtime = createPodsRuntime({ informers, settings, readSecret: () => Promise.resolve(undefined), ...tools });
  const running = Promise.allSettled([informers.run(signal), runtime.run(signal)]);
  closing.push(() => {
    stop.abort();
    return running;
  });
  const [id, name] = ["team.web", namespaceOf("management", "team.web")];
  const changes: (() => void)[] = [];
  runtime.onChange(() => changes.splice(0).forEach((resolve) => resolve()));
  const change = () => new Promise<void>((resolve) => changes.push(resolve));
  await informers.whenSynced(signal);

  await runtime.remove(id, signal);
  const created = change();
  const annotations = { [idAnnotation]: id, [ownerAnnotation]: "management" };
  await client.create(Namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { [managedByLabel]: managedBy }, annotations },
  });
  await created;
  const state = await runtime.observe(id, signal);
  expect(state).toBeDefined();
  expect(state?.removing).toBeUndefined();

  const gone = change();
  await runtime.remove(id, signal);
  await gone;
  expect(await client.find(Namespace, { namespace: "", name })).toBeUndefined();
  expect(await runtime.observe(id, signal)).toBeUndefined();
});
