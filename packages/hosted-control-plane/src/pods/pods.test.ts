import { startApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import { createClient, createInformers, loadKubeconfig, Namespace, type KubernetesClient } from "@causeway/kubernetes";
import { afterEach, expect, test, vi } from "vitest";
import { createPodsRuntime } from "./controller.ts";
import {
  handOverAnnotation,
  idAnnotation,
  managedBy,
  managedByLabel,
  namespaceOf,
  ownerAnnotation,
  releasedAnnotation,
} from "./tenant.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function openCluster(): Promise<KubernetesClient> {
  const server = await startApiServer();
  closing.push(() => server.close());
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  closing.push(() => client.close());
  return client;
}

/** The runtime of management cluster "management" over a service cluster. */
function start(client: KubernetesClient) {
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
  return { runtime, informers, signal };
}

test("a namespace whose creation took effect after the removal is removed, too", async () => {
  const client = await openCluster();
  const { runtime, informers, signal } = start(client);
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

test("a control plane is not given to another management cluster while it is being removed", async () => {
  const client = await openCluster();
  const [id, name] = ["team.web", namespaceOf("management", "team.web")];
  const [found, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = new Proxy(client, {
    get: (target, member) => {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== "function") return value;
      if (member !== "find") return value.bind(target) as unknown;
      return async (...call: unknown[]): Promise<unknown> => {
        const result = (await Reflect.apply(value, target, call)) as unknown;
        if ((call[1] as { name: string }).name !== name) return result;
        found.resolve();
        await resumed.promise;
        return result;
      };
    },
  });
  const { runtime, informers, signal } = start(slow);
  const make = (ofId: string, at: string) =>
    client.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: at,
        labels: { [managedByLabel]: managedBy },
        annotations: { [idAnnotation]: ofId, [ownerAnnotation]: "management" },
      },
    });
  const request = { metadata: { annotations: { [handOverAnnotation]: JSON.stringify({ id: "1", to: "next" }) } } };
  const give = (at: string) => client.patch(Namespace, { namespace: "", name: at }, { type: "merge", body: request });
  const releasedIn = async (at: string) =>
    (await client.get(Namespace, { namespace: "", name: at })).metadata.annotations?.[releasedAnnotation];
  await make(id, name);
  await make("team.other", "hcp-other");
  await informers.whenSynced(signal);

  const removal = runtime.remove(id, signal).catch((error: unknown) => error);
  await found.promise;
  await give(name);
  // The controller sees this one later.
  await give("hcp-other");
  await vi.waitFor(async () => expect(await releasedIn("hcp-other")).toBeDefined(), { timeout: 10_000 });
  expect(await releasedIn(name)).toBeUndefined();
  resumed.resolve();
  // What was read is old.
  expect(await removal).toBeInstanceOf(Error);
  expect(await client.find(Namespace, { namespace: "", name })).toBeDefined();
});
