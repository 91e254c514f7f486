/**
 * Control planes with Kubernetes' own programs as pods move to another management cluster while clients write: one with
 * an etcd of its own, one in the shared etcd of the management cluster that it leaves.
 */
import { allKinds, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { moveClusters } from "@causeway/cluster-api";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createHostedControlPlane,
  createPodsRuntime,
  createPodsTransfer,
  createRuntimes,
} from "@causeway/hosted-control-plane";
import {
  createClient,
  createEventRecorder,
  createInformers,
  loadKubeconfig,
  Namespace,
  Pod,
  Secret,
  secretText,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  available,
  create,
  auditNetworks,
  issuerNetworks,
  key,
  managed,
  missingFor,
  startWorld,
  until,
  type World,
} from "./runtime-world.ts";
import { readSharedEtcd } from "./shared-etcd.ts";
import { expectStored, loadOn, prepareLoad } from "./write-load.ts";

const LIMIT = 600_000 + 60_000 * Math.max(0, Number(process.env["CAUSEWAY_MOVE_TENANTS"] ?? 0));
vi.setConfig({ testTimeout: LIMIT, hookTimeout: LIMIT });

const why = missingFor("Pods");
const signal = new AbortController().signal;
/** CAUSEWAY_MOVE_TENANTS of them, in waves of CAUSEWAY_MOVE_WAVE: each takes half a GiB. */
const TENANTS = Math.max(2, Number(process.env["CAUSEWAY_MOVE_TENANTS"] ?? 2));
const WAVE = Number(process.env["CAUSEWAY_MOVE_WAVE"] ?? 1);
const NAMES = ["one", "two", ...Array.from({ length: TENANTS - 2 }, (_, index) => `tenant-${index + 3}`)];
/** Control planes whose programs start at the same time. */
const AT_ONCE = 4;
/** Writes of each client that are acknowledged once the target has all. */
const AFTERWARDS = 10;

describe.skipIf(why !== undefined)(`control planes that move${why === undefined ? "" : ` (${why})`}`, () => {
  let source: World;
  let server: ApiServer;
  let target: KubernetesClient;
  let management: { readonly from: string; readonly to: string };
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  beforeAll(async () => {
    source = await startWorld("Pods");
    server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
    target = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
    const uidOf = async (client: KubernetesClient): Promise<string> =>
      (await client.get(Namespace, { namespace: "", name: "kube-system" })).metadata.uid ?? "";
    management = { from: await uidOf(source.client), to: await uidOf(target) };
    running = manage();
    for (let from = 0; from < NAMES.length; from += AT_ONCE) {
      const some = NAMES.slice(from, from + AT_ONCE);
      for (const name of some) await create(source, name);
      for (const name of some) await available(source, name);
    }
  });
  afterAll(async () => {
    stopping.abort(new Error("stopped"));
    await running;
    await target?.close();
    await server?.close();
    await source?.close();
  });

  /** The manager of the target, which works on the source's service cluster. */
  function manage(): Promise<unknown> {
    const tools = { clock: systemClock, log: silentLog };
    const [informers, service] = [createInformers(target, tools), createInformers(source.client, tools)];
    const pods = createPodsRuntime({
      informers: service,
      settings: { owner: "next", management: management.to, pool: { members: 1 }, issuerNetworks, auditNetworks },
      readSecret: (namespace, name) => target.find(Secret, { namespace, name }),
      ...tools,
    });
    const controller = createHostedControlPlane({
      informers,
      runtime: createRuntimes({ runtimes: { Pods: pods }, default: "Pods" }),
      advertise: async () => "127.0.0.1",
      events: createEventRecorder(target, { component: "test", clock: systemClock }),
      ...tools,
    });
    return Promise.allSettled([informers, service, pods, controller].map((part) => part.run(stopping.signal)));
  }

  const pods = async (): Promise<string[]> =>
    (await source.client.list(Pod, { labelSelector: managed })).items
      .map(({ metadata: { namespace, name, uid }, status }) => {
        const starts = status?.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]);
        return `${namespace}/${name} ${uid} ${JSON.stringify(starts)}`;
      })
      .toSorted();

  test("keep their pods and endpoints, and lose no acknowledged write", { retry: 0 }, async () => {
    const tenants = await Promise.all(NAMES.map((name) => source.tenant(name)));
    for (const tenant of tenants) await prepareLoad(tenant);
    const [before, endpoints] = [await pods(), await Promise.all(NAMES.map((name) => endpointOf(source.client, name)))];
    const loads = tenants.map((tenant) => loadOn(tenant, "move"));
    for (const load of loads) await until("writes", async () => (load.fewest() > 0 ? true : undefined));

    const controlPlanes = createPodsTransfer({
      client: source.client,
      from: "suite",
      to: "next",
      management,
      clock: systemClock,
    });
    const moving = { from: source.client, to: target, namespace: "default", wave: WAVE, clock: systemClock };
    const moved = await moveClusters({ ...moving, controlPlanes, report: () => {} }, signal);
    expect(moved.clusters.toSorted()).toEqual(NAMES.toSorted());
    for (const name of NAMES) await available({ client: target }, name);

    const done = loads.map((load) => load.fewest());
    for (const [index, load] of loads.entries())
      await until("writes afterwards", async () =>
        load.fewest() >= (done[index] ?? 0) + AFTERWARDS ? true : undefined,
      );
    const results = await Promise.all(loads.map((load) => load.end()));
    for (const [index, result] of results.entries()) {
      const { created, counts: _, ...rest } = result;
      console.log({ moved: NAMES[index], created: created.length, ...rest });
      await expectStored(tenants[index] as KubernetesClient, "move", result);
      expect(result.longest).toBeLessThan(30_000);
    }
    expect(await pods()).toEqual(before);
    expect(await Promise.all(NAMES.map((name) => endpointOf(target, name)))).toEqual(endpoints);
  });

  test("are those of the target: it scales one, and deletes the other with its data in the source's etcd", async () => {
    await target.patch(HostedControlPlane, key("one"), { type: "merge", body: { spec: { replicas: 2 } } });
    await until("two API servers", async () => {
      const { status } = await target.get(HostedControlPlane, key("one"));
      return status?.readyReplicas === 2 ? true : undefined;
    });
    await target.delete(HostedControlPlane, key("two"));
    await until("the second to be gone", async () => {
      const { items } = await source.client.list(Namespace, { labelSelector: managed });
      const isThere = items.some(({ metadata }) => metadata.name.startsWith("hcp-two-"));
      const object = await target.find(HostedControlPlane, key("two"));
      return isThere || object !== undefined ? undefined : true;
    });
    const { users, permissions, prefixes } = await readSharedEtcd(source.client, managed);
    // Those of more tenants remain.
    expect([users.length, prefixes.length]).toEqual([TENANTS - 1, TENANTS - 2]);
    expect(JSON.stringify([users, permissions, prefixes])).not.toContain("hcp-two-");
  });
});

async function endpointOf(client: KubernetesClient, name: string): Promise<unknown> {
  const { status } = await client.get(HostedControlPlane, key(name));
  const { server } = loadKubeconfig({
    text: secretText(await client.get(Secret, key(`${name}-kubeconfig`)), "value") ?? "",
  });
  return { endpoint: status?.endpoint, server };
}
