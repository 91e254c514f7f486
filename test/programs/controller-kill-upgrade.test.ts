/**
 * `causeway run hosted-control-plane`, and the leader of the control plane's etcd, killed by SIGKILL in the midst of a
 * creation and of an upgrade with Kubernetes' own programs as pods: one of each resource, roots that are never created
 * again, and no acknowledged write lost.
 */
import { HostedControlPlane } from "@causeway/api";
import {
  Deployment,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Secret,
  StatefulSet,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ControllerProcess } from "./controller-process.ts";
import { isReady, namespaceOfOne, settled } from "./pods-settled.ts";
import { programs } from "./programs.ts";
import { create, key, missingFor, startCluster, until, VERSION } from "./runtime-world.ts";
import { leaderOf } from "./shared-etcd.ts";
import { expectStored, loadOn, prepareLoad } from "./write-load.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 300_000 });

const { previous } = programs();
const why = "reason" in previous ? previous.reason : missingFor("Pods");
const [MEMBERS, REPLICAS] = [3, 2];
const REDUNDANT = { replicas: REPLICAS, pods: { datastore: { type: "Own", members: MEMBERS } } };
const VERSION_OF = "controlplane.causeway.dev/version";
/** What data and credentials depend on: of the control plane's namespace, and of the management cluster. */
const ROOTS = ["etcd-ca", "encryption"];
const MANAGED_ROOTS = ["one-ca", "one-sa", "one-proxy"];

describe.skipIf(why !== undefined)(`a controller that is killed${why === undefined ? "" : ` (${why})`}`, () => {
  const before = "version" in previous ? previous.version : "";
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let controller: ControllerProcess;
  let client: KubernetesClient;
  let namespace = "";
  const roots = new Map<string, string>();
  beforeAll(async () => {
    const dir = "dir" in previous ? previous.dir : "";
    // etcd has an image of its own, whose tag is that of kubeadm's etcd for the minor.
    cluster = await startCluster("Pods", { [before]: dir, "3.5.21-0": dir });
    client = cluster.client;
    controller = new ControllerProcess(cluster.dir, cluster.kubeconfig);
  });
  afterAll(async () => {
    await controller?.stop();
    await cluster?.close();
  });

  const find = <T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T | undefined> =>
    client.find(type, { namespace, name });
  const templateVersion = (found: Deployment | StatefulSet | undefined): string | undefined =>
    found?.spec.template.metadata?.annotations?.[VERSION_OF];
  /** Content of the roots; each that was seen before is as it was. */
  const checkRoots = async (): Promise<void> => {
    const own = namespace === "" ? [] : ROOTS.map((name) => ({ namespace, name }));
    const places = [...own, ...MANAGED_ROOTS.map((name) => key(name))];
    for (const place of places) {
      const secret = await client.find(Secret, place);
      if (secret === undefined) continue;
      const content = JSON.stringify([secret.metadata.uid, secret.data]);
      expect(content, place.name).toBe(roots.get(place.name) ?? content);
      roots.set(place.name, content);
    }
  };
  const killLeader = async (): Promise<void> => {
    const name = await until("a leader", () => leaderOf(client, namespace, MEMBERS));
    cluster.node?.kill({ namespace, name });
  };
  /** Kills the controller when each of these came to be, and etcd's leader with it where the stage says so. */
  const killAt = async (stages: readonly Stage[]): Promise<void> => {
    for (const { what, reached, leader } of stages) {
      await until(what, async () => ((await reached()) ? true : undefined), 3_000).catch((error: unknown) => {
        throw new Error(`${what}; the controller printed: ${controller.output()}`, { cause: error });
      });
      await controller.kill();
      if (leader === true) await killLeader();
      await checkRoots();
    }
  };
  /** One of each, and as many as requested. */
  const expectOneOfEach = async (templates: number): Promise<void> => {
    const { items: namespaces } = await client.list(Namespace);
    expect(namespaces.filter(({ metadata }) => metadata.name.startsWith("hcp-one-"))).toHaveLength(1);
    const names = async (type: ResourceType<KubeObject>): Promise<string[]> =>
      (await client.list(type, { namespace })).items.map(({ metadata }) => metadata.name).toSorted();
    expect(await names(StatefulSet)).toEqual(["etcd"]);
    expect(await names(Deployment)).toEqual(["kube-apiserver", "kube-controller-manager", "kube-scheduler"]);
    expect(await names(PersistentVolumeClaim)).toEqual(["data-etcd-0", "data-etcd-1", "data-etcd-2"]);
    expect(await names(Pod)).toHaveLength(MEMBERS + 3 * REPLICAS);
    // A ReplicaSet for each template there was: nothing was rolled out in between.
    expect(await names(ReplicaSet)).toHaveLength(3 * templates);
    await checkRoots();
    expect([...roots.keys()].toSorted()).toEqual([...ROOTS, ...MANAGED_ROOTS].toSorted());
  };

  test("during the creation, with etcd's leader, makes one of each resource", { retry: 0 }, async () => {
    await create({ client, name: "Pods" }, "one", { version: before, ...REDUNDANT });
    await killAt([
      { what: "the authority", reached: async () => await client.find(Secret, key("one-ca")) },
      { what: "the namespace", reached: async () => (namespace = await namespaceOfOne(client)) !== "" },
      { what: "the keys of data", reached: async () => await find(Secret, "encryption") },
      { what: "etcd", reached: async () => await find(StatefulSet, "etcd") },
      {
        what: "a member of etcd that is ready",
        reached: async () => isReady((await find(Pod, "etcd-0")) ?? ({} as Pod)),
        leader: true,
      },
      { what: "the API servers", reached: async () => await find(Deployment, "kube-apiserver") },
      { what: "the controllers", reached: async () => await find(Deployment, "kube-controller-manager") },
    ]);
    await settled(client, namespace, { members: MEMBERS, replicas: REPLICAS, version: before });
    console.log({ killed: controller.kills, during: "creation" });
    await expectOneOfEach(1);
  });

  test("during an upgrade, with etcd's leader, under writes, loses none and rolls out once", { retry: 0 }, async () => {
    const tenant = await cluster.tenant("one");
    await prepareLoad(tenant);
    const load = loadOn(tenant, "upgraded");
    await until("writes", async () => (load.fewest() > 0 ? true : undefined));
    const killed = controller.kills;
    await client.patch(HostedControlPlane, key("one"), { type: "merge", body: { spec: { version: VERSION } } });
    const isOf = async (type: ResourceType<Deployment | StatefulSet>, name: string): Promise<boolean> =>
      templateVersion(await find(type, name)) === VERSION;
    const podsOf = async (component: string): Promise<Pod[]> => {
      const { items } = await client.list(Pod, { namespace });
      return items.filter(
        ({ metadata }) => metadata.name.startsWith(`${component}-`) && metadata.annotations?.[VERSION_OF] === VERSION,
      );
    };
    await killAt([
      { what: "the new etcd", reached: () => isOf(StatefulSet, "etcd") },
      { what: "a new member", reached: async () => (await podsOf("etcd")).some(isReady), leader: true },
      { what: "the new API server", reached: () => isOf(Deployment, "kube-apiserver") },
      { what: "one that is ready", reached: async () => (await podsOf("kube-apiserver")).some(isReady), leader: true },
      { what: "the new controllers", reached: () => isOf(Deployment, "kube-controller-manager") },
    ]);
    await settled(client, namespace, { members: MEMBERS, replicas: REPLICAS, version: VERSION });
    const done = load.fewest();
    await until("writes afterwards", async () => (load.fewest() >= done + 10 ? true : undefined));
    const result = await load.end();
    const { created, counts, ...rest } = result;
    const numbers = { created: created.length, counted: [...counts.values()], ...rest };
    console.log({ killed: controller.kills - killed, during: "upgrade", ...numbers });
    await expectOneOfEach(2);
    await expectStored(tenant, "upgraded", result);
  });
});

interface Stage {
  readonly what: string;
  readonly reached: () => Promise<unknown>;
  /** The leader of etcd is killed, too. */
  readonly leader?: true;
}
