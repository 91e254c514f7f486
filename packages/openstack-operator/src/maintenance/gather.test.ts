/** What maintenance is planned from where Nova does not respond, and where a list of the cluster's is late. */
import type { OpenStackDeployment } from "@causeway/api";
import { systemClock } from "@causeway/foundation";
import type { Informer, KubeObject, KubernetesClient, Node, Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { PodDisruptionBudget } from "../render/types.ts";
import { spec } from "../testing/rendered.ts";
import { gather, type GatherMaintenance, type Memory } from "./gather.ts";
import { guardBudget } from "./guards.ts";
import type { ComputeService } from "./model.ts";
import type { Nova } from "./nova.ts";
import { perform } from "./perform.ts";
import { isClear, plan } from "./plan.ts";

const key = { namespace: "openstack", name: "cloud" };
const deployment: OpenStackDeployment = {
  apiVersion: "openstack.causeway.dev/v1alpha1",
  kind: "OpenStackDeployment",
  metadata: { ...key, uid: "u", generation: 1 },
  spec,
  status: { release: "2025.1" },
};
const node = (name: string, role: string, unschedulable = false): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { role } },
  spec: { unschedulable },
});
const nova = (services: () => Promise<ComputeService[]>): Nova =>
  ({ services, servers: async () => [], agents: async () => [], close: async () => {} }) as unknown as Nova;
const fails = () => Promise.reject(new Error("connection refused"));
const serves = (): Promise<ComputeService[]> => Promise.resolve([]);
const disabled: ComputeService = {
  id: "s",
  host: "c",
  zone: "nova",
  isUp: true,
  isEnabled: false,
  reason: "causeway: node c is cordoned",
  isForcedDown: false,
};

/** A cluster whose lists a test changes, and which answers deletions before its lists show them. */
class Played {
  nodes: Node[] = [];
  budgets: PodDisruptionBudget[] = [];
  services = serves;
  status: OpenStackDeployment["status"] = deployment.status;
  readonly deleted: string[] = [];
  readonly #memories = new Map<string, Memory>();
  readonly #client = {
    find: async () => ({ data: { "keystone.admin": btoa("password") } }),
    delete: async (_: unknown, { name }: { name: string }) => void this.deleted.push(name),
  } as unknown as KubernetesClient;

  hold(...names: string[]): void {
    this.budgets = names.map((name) => {
      const { metadata, ...rest } = guardBudget(deployment, name);
      return { ...rest, metadata: { ...metadata, uid: `uid-${name}` } };
    });
  }

  async #gather() {
    const listed = <T extends KubeObject>(list: () => T[]): Informer<T> =>
      ({ list, get: () => list()[0] }) as unknown as Informer<T>;
    const using: GatherMaintenance = {
      from: {
        deployments: listed(() => [{ ...deployment, ...(this.status ? { status: this.status } : {}) }]),
        nodes: listed(() => this.nodes),
        guards: listed<Pod>(() => []),
        budgets: listed(() => this.budgets),
        pods: listed<Pod>(() => []),
      },
      client: this.#client,
      openNova: () => nova(this.services),
      memories: this.#memories,
    };
    const found = await gather(using, key, new AbortController().signal);
    if (!found) throw new Error("nothing was gathered");
    return found;
  }

  async plan() {
    const { steps, status, events = [], wait } = plan(await this.#gather(), 1_000);
    return {
      steps: steps.filter(({ type }) => type !== "guard").map(({ type, name }) => `${type} ${name}`),
      status: status.maintenance ?? [],
      events: events.map(({ reason, message }) => `${reason}: ${message}`),
      wait,
    };
  }

  async isClear(): Promise<boolean> {
    const observed = await this.#gather();
    return isClear(observed, plan(observed, 1_000).status);
  }

  async perform(): Promise<void> {
    const observed = await this.#gather();
    for (const step of plan(observed, 1_000).steps.filter(({ type }) => type === "release"))
      await perform({ client: this.#client, clock: systemClock }, step, observed, new AbortController().signal);
  }
}

describe("while Nova does not respond", () => {
  test("control nodes are given free, and nodes without a guard are held", async () => {
    const played = new Played();
    played.services = fails;
    played.nodes = [node("a", "control", true), node("b", "control"), node("c", "compute")];
    played.hold("a", "c");
    await expect(played.plan()).rejects.toThrow("connection refused");
    const { steps, status, events, wait } = await played.plan();
    expect(steps).toEqual(["hold b", "release a"]);
    expect(status).toMatchObject([{ node: "a", phase: "Empty" }]);
    expect(events).toEqual(["MaintenanceFailed: Nova cannot be read: connection refused"]);
    expect(wait).toMatchObject({ until: 11_000 });
  });

  test("a compute node remains held, and its status has what was known and why no more is", async () => {
    const played = new Played();
    played.services = fails;
    played.nodes = [node("c", "compute", true), node("d", "compute", true), node("e", "compute")];
    played.hold("c", "d", "e");
    played.status = {
      release: "2025.1",
      maintenance: [
        { node: "c", phase: "Moving", servers: 3, message: "3 servers are left, 2 move" },
        { node: "gone", phase: "Removing", servers: 0, message: "takes no more servers" },
      ],
    };
    await expect(played.plan()).rejects.toThrow("connection refused");
    const { steps, status } = await played.plan();
    expect(steps).toEqual([]);
    const message = "Nova cannot be read, the servers are those that were seen last: connection refused";
    expect(status).toEqual([
      { node: "c", phase: "Blocked", servers: 3, message },
      { node: "gone", phase: "Blocked", servers: 0, message },
      { node: "d", phase: "Blocked", servers: 0, message },
    ]);
  });

  test("what a status said of it is gone when it responds", async () => {
    const played = new Played();
    played.nodes = [node("a", "control"), node("c", "compute")];
    played.hold("a", "c");
    played.status = {
      release: "2025.1",
      maintenance: [{ node: "c", phase: "Blocked", servers: 3, message: "Nova cannot be read" }],
    };
    expect(await played.plan()).toMatchObject({ steps: [], status: [], events: [] });
  });
});

describe("a compute node whose cell of Nova", () => {
  const of = (...answers: Partial<ComputeService>[]) => {
    const played = new Played();
    played.nodes = [node("c", "compute", true)];
    played.hold("c");
    let at = 0;
    played.services = async () => [{ ...disabled, ...answers[Math.min(at++, answers.length - 1)] }];
    return played;
  };
  const unknown = { id: "", zone: "", isUp: false, isEnabled: true, reason: "", isUnknown: true } as const;
  const message = expect.stringContaining("cannot be read");

  test("can be read is given free once no server is on it", async () => {
    expect(await of({}).plan()).toMatchObject({ steps: ["release c"], status: [{ phase: "Empty" }] });
  });

  test.each([
    ["cannot be read is held, whatever servers are listed", [unknown]],
    ["becomes unreachable before its servers are listed is held", [{}, unknown]],
    ["is back after its servers were listed is held", [unknown, {}]],
  ] as const)("%s", async (_, answers) => {
    const { steps, status } = await of(...answers).plan();
    expect(steps).toEqual([]);
    expect(status).toMatchObject([{ node: "c", phase: "Blocked", message }]);
  });

  test("cannot be read has Nova read again when it serves", async () => {
    const played = of(unknown);
    played.nodes = [node("c", "compute")];
    expect(await played.isClear()).toBe(false);
  });

  test("cannot be read, and which is no node any more, keeps its agents", async () => {
    const played = of(unknown);
    played.nodes = [];
    const { steps, status } = await played.plan();
    expect(steps).toEqual([]);
    expect(status).toMatchObject([{ node: "c", phase: "Blocked", message }]);
  });
});

describe("a node that is held, and whose drain nothing ends by itself", () => {
  const states = async (services: ComputeService[], role: string, unschedulable = true) => {
    const played = new Played();
    played.nodes = [node("c", role, unschedulable), node("d", "compute")];
    played.hold("c", "d");
    played.services = async () => services;
    const { steps, status } = await played.plan();
    return [...steps, ...status.map(({ phase, message }) => `${phase}: ${message}`)];
  };
  const enabled = { ...disabled, isEnabled: true, reason: "" };

  test("says so where Nova has its compute, and no group has it", async () => {
    expect(await states([enabled], "free")).toEqual([expect.stringMatching(/^Blocked: .*no group.*delete/)]);
    expect(await states([enabled], "free", false)).toEqual([]);
  });

  test("says so where Nova has no compute of it", async () => {
    expect(await states([], "compute")).toEqual([expect.stringMatching(/^Blocked: Nova has no compute/)]);
  });

  test("is none where neither has it", async () => {
    expect(await states([], "free")).toEqual([expect.stringMatching(/^forget /)]);
  });
});

test("a control node that was given free counts as such before the list of budgets shows it", async () => {
  const played = new Played();
  played.nodes = [node("a", "control"), node("b", "control", true), node("c", "control")];
  played.hold("a", "b", "c");
  await played.perform();
  expect(played.deleted).toHaveLength(1);
  played.nodes = [node("a", "control", true), node("b", "control", true), node("c", "control")];
  const { steps, status } = await played.plan();
  expect(steps).toEqual([]);
  expect(status.map((each) => `${each.node} ${each.phase}`)).toEqual(["a Waiting", "b Empty"]);
  // Held again, by a budget that is another one.
  played.nodes = [node("a", "control", true), node("b", "control"), node("c", "control")];
  played.hold("a", "b", "c");
  played.budgets = played.budgets.map((each) => ({ ...each, metadata: { ...each.metadata, uid: "new" } }));
  expect((await played.plan()).steps).toEqual(["release a"]);
});
