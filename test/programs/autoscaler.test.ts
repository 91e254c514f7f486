/**
 * cluster-autoscaler, unmodified, with its clusterapi provider: our managers keep the MachineDeployment that it scales,
 * on a simulated cloud. Kubelets and scheduler of the workload cluster are played.
 */
import { readFileSync } from "node:fs";
import { annotations, Machine, MachineDeployment, OpenStackMachineTemplate } from "@causeway/api";
import {
  createClient,
  Event,
  loadKubeconfig,
  Node,
  Pod,
  ServiceAccount,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-ports.ts";
import { ownCluster, startOwn } from "./cluster-api/own.ts";
import { playWorkload } from "./cluster-api/played-workload.ts";
import { until } from "./cluster-api/world.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";
import { launch, type RunningProgram } from "./run.ts";
import { servers, startServer, type Server } from "./servers.ts";

const { kubectls } = programs();
const minutes = 60_000;
const namespace = "default";
/** docs/reference/programs.md says how it is built. */
const program = process.env["CAUSEWAY_CLUSTER_AUTOSCALER"];
const CAPACITY = "capacity.cluster-autoscaler.kubernetes.io";
const GROUP_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group";
const pool = { "example.com/pool": "batch" };
const taint = { key: "dedicated", value: "batch", effect: "NoSchedule" as const };

describe.each(servers())("cluster-autoscaler on $name", { timeout: 8 * minutes, retry: 0 }, ({ name, missing }) => {
  if (program === undefined) test.skip("all (CAUSEWAY_CLUSTER_AUTOSCALER names no program)");
  else if (missing !== undefined) test.skip(`all (${missing})`);
  else scenario(name, program);
});

function scenario(on: Server["name"], autoscaler: string): void {
  let management: Server;
  let inside: Server;
  let simulator: Simulator;
  let k: Kubectl;
  let client: KubernetesClient;
  let workload: KubernetesClient;
  let own: RunningProgram | undefined;
  let scaler: RunningProgram | undefined;
  let endPlay: (() => Promise<void>) | undefined;
  const clientOf = ({ kubeconfig }: Server) => createClient(loadKubeconfig({ path: kubeconfig }));

  beforeAll(async () => {
    [management, inside, simulator] = await Promise.all([startServer(on), startServer(on), startSimulator()]);
    k = kubectlOn(management, kubectls[0] ?? "kubectl", { namespace, minor: 34 });
    [client, workload] = [clientOf(management), clientOf(inside)];
    own = await startOwn(management.kubeconfig);
  }, 4 * minutes);
  afterAll(async () => {
    await endPlay?.().catch(() => {});
    await scaler?.stop();
    await own?.stop();
    await Promise.all([client?.close(), workload?.close()]);
    await Promise.all([simulator?.close(), management?.close(), inside?.close()]);
  });

  const deployment = { namespace, name: "web-md-0" };
  const replicas = async () => (await client.get(MachineDeployment, deployment)).spec.replicas;
  const workers = async () =>
    (await client.list(Machine, { namespace })).items.filter(
      ({ metadata }) => metadata.labels?.["cluster.x-k8s.io/control-plane"] === undefined,
    );
  const nodeOf = async (name: string) => (await workload.get(Pod, { namespace, name })).spec.nodeName;

  /** A pod that takes more than half of a worker's processor, unless more is said. */
  async function pod(name: string, cpu = "600m"): Promise<void> {
    await workload.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, annotations: { "cluster-autoscaler.kubernetes.io/safe-to-evict": "true" } },
      spec: {
        nodeSelector: pool,
        tolerations: [{ key: taint.key, operator: "Exists" }],
        containers: [{ name: "work", image: "work", resources: { requests: { cpu } } }],
      },
    } as Pod);
  }
  const end = (name: string) => workload.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 });

  /** Why it adds no Node for a pod, in its own words. */
  async function refusal(name: string): Promise<string | undefined> {
    const { items } = await workload.list(Event, { namespace });
    const found = items.find((event) => {
      const { involvedObject, reason } = event as unknown as { involvedObject: { name: string }; reason: string };
      return involvedObject.name === name && reason === "NotTriggerScaleUp";
    });
    return (found as unknown as { message?: string } | undefined)?.message;
  }

  async function start(): Promise<RunningProgram> {
    const flags = {
      "cloud-provider": "clusterapi",
      kubeconfig: inside.kubeconfig,
      "cloud-config": management.kubeconfig,
      "node-group-auto-discovery": `clusterapi:namespace=${namespace},clusterName=web`,
      address: `127.0.0.1:${await freePort()}`,
      "leader-elect": "false",
      "scan-interval": "1s",
      "scale-down-delay-after-add": "0s",
      "scale-down-unneeded-time": "3s",
      "node-delete-delay-after-taint": "0s",
      v: "4",
    };
    return launch(
      autoscaler,
      Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    );
  }

  /** Waits, and says what the programs printed last where it is not in time. */
  async function seen(what: string, check: () => Promise<unknown>): Promise<void> {
    await until(what, check, 2 * minutes).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${scaler?.output().slice(-6000) ?? ""}\n${own?.output().slice(-3000) ?? ""}`);
    });
  }

  test("a MachineDeployment is scaled from zero to its maximum, and down to zero by the Machines that are marked", async () => {
    const before = simulator.inventory("demo");
    const scaling = {
      [`${GROUP_SIZE}-min-size`]: "0",
      [`${GROUP_SIZE}-max-size`]: "3",
      [`${CAPACITY}/labels`]: Object.entries(pool)
        .map(([key, value]) => `${key}=${value}`)
        .join(","),
      [`${CAPACITY}/taints`]: `${taint.key}=${taint.value}:${taint.effect}`,
    };
    const kubeconfig = readFileSync(inside.kubeconfig, "utf8");
    const { authority } = inside.target;
    const asked = { name: "web", clouds: simulator.cloudsYaml, cloud: "simulator", kubeconfig, authority };
    for (const one of ownCluster({ ...asked, replicas: 0, annotations: scaling }))
      await k.feed(one, "create", "-f", "-");
    // kube-controller-manager would make it, and no pod is admitted without it.
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } };
    await workload.apply(ServiceAccount, account, { fieldManager: "test" });
    endPlay = playWorkload({ management: client, workload, simulator, labels: pool, taints: [taint] });
    await seen("a control plane", async () => {
      const [machine] = (await client.list(Machine, { namespace })).items;
      return machine?.status?.nodeRef !== undefined || machine?.status;
    });
    await seen("the flavor's capacity", async () => {
      const { metadata, status } = await client.get(OpenStackMachineTemplate, deployment);
      return status?.capacity !== undefined || { metadata, status };
    });
    const { status } = await client.get(OpenStackMachineTemplate, deployment);
    expect(status?.capacity).toEqual({ cpu: "1", memory: "2048Mi", "ephemeral-storage": "20Gi" });
    scaler = await start();

    // What the flavor does not have, no Node would help.
    await pod("large", "3");
    await seen("a refusal", async () => (await refusal("large")) !== undefined);
    expect(await refusal("large")).toContain("Insufficient cpu");
    expect([await replicas(), (await workers()).length]).toEqual([0, 0]);
    await end("large");

    await pod("first");
    await seen("a Node from zero", async () => (await nodeOf("first")) !== undefined || (await replicas()));
    expect(await replicas()).toBe(1);

    const pods = ["first", "second", "third", "fourth"];
    for (const name of pods.slice(1)) await pod(name);
    const placed = async () => {
      const nodes = await Promise.all(pods.map(async (name) => [name, await nodeOf(name)] as const));
      return new Map(nodes.filter((one): one is [string, string] => one[1] !== undefined));
    };
    await seen("the maximum", async () => (await placed()).size === 3 || [...(await placed()).keys()]);
    const nodes = await placed();
    const [waiting = ""] = pods.filter((name) => !nodes.has(name));
    // Two of its rounds have seen it wait.
    const [said, rounds] = [scaler.output().length, /(?:3 scheduled, 1 unschedulable.*?){2}/s];
    await seen("two more rounds", () => Promise.resolve(rounds.test(scaler?.output().slice(said) ?? "")));
    expect([await replicas(), (await workers()).length]).toEqual([3, 3]);
    await end(waiting);

    // Of the Machine whose Node is needed no longer, whatever its age.
    const [, leaving = ""] = nodes.keys();
    const leaves = (await workers()).find(({ status }) => status?.nodeRef?.name === nodes.get(leaving));
    const marks = followMarks(client);
    await end(leaving);
    await seen("two Machines", async () => (await workers()).length === 2 || (await workers()).length);
    expect(marks()).toEqual([leaves?.metadata.name]);
    expect((await workers()).map(({ metadata }) => metadata.name)).not.toContain(leaves?.metadata.name);
    expect(await replicas()).toBe(2);

    for (const { metadata } of (await workload.list(Pod, { namespace })).items) await end(metadata.name);
    await seen("none", async () => {
      const nodesLeft = (await workload.list(Node)).items.filter(
        ({ metadata: { labels } }) => labels?.["example.com/pool"],
      );
      const left = [...(await workers()), ...nodesLeft];
      return left.length === 0 || left.map(({ metadata }) => metadata.name);
    });
    expect(await replicas()).toBe(0);
    const named = (kind: string) => simulator.inventory("demo").filter((line) => line.startsWith(`${kind} `));
    expect(named("server")).toHaveLength(1);

    await scaler.stop();
    await k.run("delete", "cluster", "web", "--timeout=120s");
    expect(simulator.inventory("demo")).toEqual(before);
    await endPlay();
  });
}

/** The Machines that were marked as those to delete, until the returned function is called. */
function followMarks(client: KubernetesClient): () => string[] {
  const ended = new AbortController();
  const marked = new Set<string>();
  const work = (async () => {
    const { resourceVersion } = await client.list(Machine, { namespace });
    const watched = client.watch(Machine, { namespace, resourceVersion, signal: ended.signal });
    for await (const event of watched) {
      if (event.type === "BOOKMARK") continue;
      const { annotations: has, name } = event.object.metadata;
      if (has?.[annotations.deleteMachine] !== undefined) marked.add(name);
    }
  })();
  work.catch(() => {});
  return () => {
    ended.abort();
    return [...marked];
  };
}
