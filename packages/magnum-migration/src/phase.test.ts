/** Plans to read first: every step that is left, by the effect of each on what is read. */
import { systemClock } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { isBlocked, remainingOf, type Phase, type PhasePlan, type Step, type Tools } from "./phase.ts";
import { predictAdopt } from "./phases/adopt/predict.ts";
import { planAdopt, type AdoptFacts } from "./phases/adopt/plan.ts";
import { predictImport } from "./phases/import/predict.ts";
import { planImport, type ImportFacts } from "./phases/import/plan.ts";
import { predictRetire } from "./phases/retire/predict.ts";
import { planRetire, type RetireFacts } from "./phases/retire/plan.ts";
import { predictRoll } from "./phases/roll/predict.ts";
import { planRoll, type RollFacts } from "./phases/roll/plan.ts";
import { predictRollback } from "./phases/rollback/predict.ts";
import { planRollback, type RollbackFacts } from "./phases/rollback/plan.ts";
import { predictSwitch } from "./phases/switch/predict.ts";
import { planSwitch, type SwitchFacts } from "./phases/switch/plan.ts";
import { writeRecord, type MigrationRecord } from "./record/record.ts";
import { planPhase, runPhase } from "./run/run.ts";
import { MemoryCluster } from "./testing/memory.ts";
import { inventory, member, record } from "./testing/planned.ts";
import { SwitchWorld, type Faults } from "./testing/worlds.ts";

type Planned<F, S extends Step> = Pick<Phase<F, S>, "plan" | "predict">;
const left = <F, S extends Step>(phase: Planned<F, S>, facts: F): string[] => {
  const { steps, wait } = remainingOf(phase, facts, record);
  return [...(wait === undefined ? [] : [`now: ${wait}`]), ...steps.map(({ what }) => what)];
};

const importPhase = { plan: planImport, predict: predictImport };
const imported: ImportFacts = {
  secrets: { ca: false, proxy: false, sa: false, etcd: false },
  hasCaKey: true,
  hasObjects: false,
  peerURL: undefined,
  wantedStage: undefined,
  stage: undefined,
  members: [{ id: "1", name: "m0", peerURLs: ["https://10.0.0.4:2380"], isLearner: false }],
  etcdVersion: "3.6.0",
  peerHost: "2001:db8::1",
  isLoopback: false,
  elsewhere: ["10.0.0.4"],
  problem: undefined,
};
const switchPhase = { plan: planSwitch, predict: predictSwitch };
const switched: SwitchFacts = {
  wantedStage: "Follow",
  isAvailable: false,
  message: "it follows",
  apiAddress: "192.0.2.1:40001",
  uid: "x",
  hostedUid: undefined,
  kubelets: [],
  services: [],
  acceptsUnreachable: false,
  isPoolBusy: false,
  members: [member("m0", "10.0.0.4"), member("m1", "10.0.0.5")],
  masters: [{ name: "m0", address: "10.0.0.4", active: ["kube-apiserver"] }],
  hasEndpoints: false,
  leases: [{ name: "kube-scheduler", holder: "h", isFresh: true }],
};
const rollback = { plan: planRollback, predict: predictRollback };
const back: RollbackFacts = {
  stopped: [{ name: "m0", address: "10.0.0.4" }],
  members: [member("causeway-web-1", "192.0.2.1", 40001)],
  isPoolBusy: false,
  ownMember: "causeway-web-1",
  etcdLost: 0,
  hostedMember: "9",
  wantedStage: "Serve",
  isPaused: false,
  machineObjects: ["Machine n0"],
  otherObjects: ["Cluster web-1", "HostedControlPlane web-1"],
  unread: undefined,
  kubeProxy: { objects: ["DaemonSet kube-proxy"], isRestricted: true, nodes: [] },
  groups: [{ id: "g", name: "k8s-cluster" }],
  newServers: [],
  agents: [{ name: "m0", address: "10.0.0.4" }],
  stoppedWorkloads: [{ kind: "DaemonSet", name: "openstack-cloud-controller-manager" }],
};

describe("the plan of a phase to read first has", () => {
  test("every step of import, with the port that is not reserved yet as such", () => {
    const peerURL = "https://[2001:db8::1]:<reserved port>";
    expect(left(importPhase, imported)).toEqual([
      "take over the authorities and the key of service accounts into Secrets magnum-p/web-1-{ca,proxy,sa}",
      "create MagnumCluster, Cluster and HostedControlPlane magnum-p/web-1",
      "wait for the hosted control plane to reserve its ports",
      "end here if the management cluster has no runtime that can join the masters' etcd",
      `have Magnum sign etcd certificates for ${peerURL}`,
      `add ${peerURL} to etcd as a learner`,
      "start the hosted etcd",
      "wait for the hosted etcd to start",
      "make the hosted etcd a voting member, when it is in sync",
    ]);
  });

  test("every step of switch, and where it ends if the hosted API server fits not", () => {
    expect(left(switchPhase, switched)).toEqual([
      "start the API server and controllers of HostedControlPlane magnum-p/web-1",
      "wait for HostedControlPlane magnum-p/web-1 to be available: it is being started",
      expect.stringMatching(/^end here, with nothing switched, if .* has other data, or does not reach kubelets/),
      "add 192.0.2.1:40001 to pool pool of the API's load balancer",
      "wait for member causeway-web-1 of the API's load balancer to be ready",
      "remove 10.0.0.4:6443 from the API's load balancer",
      "remove 10.0.0.5:6443 from the API's load balancer",
      "stop kube-apiserver on m0 (10.0.0.4)",
      "have Service default/kubernetes lead to the load balancer",
      "wait for the hosted control plane to hold Lease kube-system/kube-scheduler",
    ]);
  });

  test("what switch waits for now before its steps", () => {
    const facts = { ...switched, wantedStage: "Serve", isAvailable: true, hostedUid: "x", isPoolBusy: true };
    expect(left(switchPhase, facts).slice(0, 2)).toEqual([
      "now: load balancer lb to be ACTIVE",
      "add 192.0.2.1:40001 to pool pool of the API's load balancer",
    ]);
  });

  test("every step of adopt after the pods that it waits for, and what it would be refused for then", () => {
    const facts: AdoptFacts = {
      writers: [{ kind: "DaemonSet", name: "ccm", state: "stopping", isOurs: true }],
      images: [],
      hasImage: true,
      wanted: [{ kind: "Machine", name: "n0", isThere: false }],
      machines: [],
      servers: ["id-n0"],
    };
    const adopt = { plan: planAdopt, predict: predictAdopt };
    expect(left(adopt, facts)).toEqual([
      "now: the pods of DaemonSet kube-system/ccm to end",
      "create Machine n0",
      "wait for Machine n0 to be adopted: its Node was not found yet",
    ]);
    const gone = { ...facts, servers: [] };
    expect(left(adopt, gone).at(-1)).toMatch(
      /^be refused then: Server n0 .* is not ACTIVE.* \(MIGRATE_SERVER_GONE\)\. [A-Z].*/,
    );
    expect(planAdopt(gone, record).refused).toBeUndefined();
    expect([facts, gone].map((each) => isBlocked(remainingOf(adopt, each, record)))).toEqual([false, true]);
    expect(isBlocked({ steps: [], refused: { code: "MIGRATE_SERVER_GONE", message: "m", hint: "h" } })).toBe(true);
  });

  test("each machine of each node group of roll", () => {
    const machine = (name: string) => ({ name, isHeld: false, isDeleting: false, progress: "" });
    const pool = (name: string, machines: readonly string[]) => ({
      name,
      group: name,
      isPaused: true,
      replicas: machines.length,
      fresh: 0,
      adopted: machines.map(machine),
      failure: undefined,
    });
    const facts: RollFacts = {
      pools: [pool("a", ["a0", "a1"]), pool("b", ["b0"])],
      problems: [],
      kubeProxy: { isChosen: false, unapplied: "there is none", unhealthy: undefined },
      start: {
        images: [],
        hasImage: true,
        hasKubeletSource: true,
        nodePlugin: { isDrivers: false, isRestricted: false, hasOwn: false, hasVolumes: false, hasClasses: false },
        outdated: [{ index: 1, kind: "MachineDeployment", name: "a" }],
      },
    };
    const steps = left({ plan: planRoll, predict: predictRoll }, facts);
    expect(steps.filter((one) => !one.startsWith("wait"))).toEqual([
      "have kube-proxy on new nodes as an add-on of the cluster",
      "write MachineDeployment a",
      "have the drain of Machine a0 wait for new nodes that work",
      "have the drain of Machine a1 wait for new nodes that work",
      "replace the 2 machines of node group a, one at a time",
      "drain the Node of Machine a0, and delete its server",
      "drain the Node of Machine a1, and delete its server",
      "have the drain of Machine b0 wait for new nodes that work",
      "replace the 1 machines of node group b, one at a time",
      "drain the Node of Machine b0, and delete its server",
    ]);
    expect(steps[2]).toMatch(/^wait for kube-proxy to be healthy on new nodes.*: there is none$/);
    expect(steps).toContain("wait for node group a: 1 of 2 new nodes are ready, 2 of Heat's are left");
  });

  test("every step of a rollback, in the cloud and in the cluster", () => {
    expect(left(rollback, back)).toEqual([
      "start the control plane on m0 (10.0.0.4)",
      "add 1 masters to the API's load balancer",
      "wait for member 10.0.0.4:6443 of the API's load balancer to be ready",
      "remove 192.0.2.1:40001 from the API's load balancer",
      "pause the Cluster",
      "delete Machine n0 without what it represents",
      "stop the hosted API server and controllers",
      "remove the hosted member from etcd",
      "delete Cluster web-1",
      "delete HostedControlPlane web-1",
      "delete DaemonSet kube-proxy, which phase roll brought and no node has",
      "let DaemonSet kube-system/csi-cinder-nodeplugin have the nodes that it had",
      "delete security group k8s-cluster (g), which no port uses",
      "start heat-container-agent on m0 (10.0.0.4)",
      "start DaemonSet kube-system/openstack-cloud-controller-manager as it was",
    ]);
  });

  test("of a rollback that cannot read the cluster, that the rest depends on what it says then", () => {
    const steps = left(rollback, { ...back, kubeProxy: undefined, stoppedWorkloads: undefined });
    expect(steps.slice(-3)).toEqual([
      "start heat-container-agent on m0 (10.0.0.4)",
      "wait for the cluster's API to respond",
      expect.stringMatching(/as its API says: workloads that they stopped, kube-proxy of roll$/),
    ]);
  });

  test("the steps of retire after a stack that Heat is giving up", () => {
    const facts: RetireFacts = {
      stacks: [],
      leaving: inventory.stacks,
      oldMembers: [],
      hasHostedMember: true,
      oldMachines: [],
      masterNodes: ["m0"],
      leftovers: [],
      changing: new Set(),
      kept: [],
      isMigrating: true,
      status: { status: "UPDATE_IN_PROGRESS", reason: "" },
      stackProjects: [],
      magnum: { row: undefined, trustee: undefined, silentNodes: [] },
      driver: { objects: [], kept: [], users: [], others: [] },
    };
    expect(left({ plan: planRetire, predict: predictRetire }, facts)).toEqual([
      "now: Heat to complete the change of stack web-abc",
      "wait for Heat to complete the change of stack web-big",
      "delete Node m0",
      "hand MagnumCluster magnum-p/web-1 over to the Magnum API",
    ]);
  });

  test("no steps where the phase is refused now", () => {
    const plan = remainingOf(rollback, { ...back, etcdLost: 1 }, record);
    expect([plan.steps, plan.refused?.code]).toEqual([[], "MIGRATE_MEMBERS_LOST"]);
  });
});

test("switch and rollback do the steps that their plans had, in that order", async () => {
  const world = new SwitchWorld();
  const cluster = new MemoryCluster();
  const { signal } = new AbortController();
  const management = cluster.client(() => false);
  const api = { ...inventory.api, members: ["m0", "m1", "m2"].map((name) => member(name, name)) };
  const done = { at: "", proof: [] };
  const begun = {
    ...record,
    inventory: { ...inventory, api } as MigrationRecord["inventory"],
    phases: { discover: done, freeze: done, import: done },
  };
  await writeRecord(management, begun, signal);
  const faults: Faults = { next: () => undefined, pause: async () => {} };
  for (const phase of [world.switchPhase(faults), world.rollback(faults)]) {
    const lines: string[] = [];
    const report = (line: string): void => void lines.push(line);
    const tools = {
      management,
      clock: systemClock,
      report,
      checked: new Set<string>(),
      identity: "a",
    } as unknown as Tools;
    const plan: PhasePlan<Step> = await planPhase(phase, tools, begun, signal);
    await runPhase(phase, tools, begun, signal);
    const steps = plan.steps.filter(({ type }) => type !== "wait" && type !== "depends").map(({ what }) => what);
    expect(lines.length).toBeGreaterThan(5);
    expect(lines).toEqual(steps);
  }
});
