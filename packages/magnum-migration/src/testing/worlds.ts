import { definePhase, type AnyPhase } from "../phase.ts";
import { planRetire, type DriverObject, type RetireFacts } from "../phases/retire/plan.ts";
import { predictRollback } from "../phases/rollback/predict.ts";
import { planRollback, type RollbackFacts } from "../phases/rollback/plan.ts";
import { predictSwitch } from "../phases/switch/predict.ts";
import { planSwitch, type PoolMember, type SwitchFacts } from "../phases/switch/plan.ts";
import type { Resource } from "../inventory/model.ts";

/** What a fault does to an operation on the world: it does not arrive, or its answer is lost. */
export type Fault = "before" | "after" | undefined;
export interface Faults {
  /** What happens to the next operation. */
  next(): Fault;
  /** The time that a request takes. */
  pause(): Promise<void>;
}

async function under<T>(faults: Faults, what: string, work: () => T): Promise<T> {
  await faults.pause();
  const fault = faults.next();
  if (fault === "before") throw new Error(`${what} did not arrive`);
  const value = work();
  if (fault === "after") throw new Error(`the answer of ${what} was lost`);
  return value;
}

const own = "causeway-web-1";
const masters = ["m0", "m1", "m2"];
const units = ["kube-controller-manager", "kube-scheduler", "kube-apiserver"];

/** Masters, a load balancer and a hosted control plane, with the rule that at each moment a client is served. */
export class SwitchWorld {
  stage = "Follow";
  hostedMember = true;
  objects = ["Cluster web-1", "HostedControlPlane web-1"];
  groups = [{ id: "g", name: "k8s-cluster-web-1-secgroup-worker" }];
  readonly active = new Map(masters.map((name) => [name, new Set(units)]));
  members = masters.map((name): PoolMember => ({ id: name, name, address: name, port: 6443, isReady: true }));
  hasEndpoints = false;
  readonly broken: string[] = [];

  #check(step: string): void {
    const serves = ({ name }: PoolMember): boolean =>
      name === own ? this.stage === "Serve" : this.active.get(name)?.has("kube-apiserver") === true;
    if (!this.members.every(serves) || this.members.length === 0)
      this.broken.push(`after ${step}: ${this.members.map(({ name }) => name).join(" ")}, stage ${this.stage}`);
    if (this.stage !== "Serve" && this.members.every(({ name }) => name === own))
      this.broken.push(`after ${step} nothing serves`);
  }

  switchPhase(faults: Faults): AnyPhase {
    return definePhase({
      name: "switch",
      gather: async (): Promise<SwitchFacts> =>
        under(faults, "a read", () => ({
          wantedStage: this.stage,
          isAvailable: this.stage === "Serve",
          message: "",
          apiAddress: "hosted:6443",
          uid: "u",
          hostedUid: "u",
          kubelets: [],
          services: [],
          acceptsUnreachable: false,
          isPoolBusy: false,
          members: this.members.map((one) => (one.name === own ? { ...one, address: "hosted" } : one)),
          masters: masters.map((name) => ({ name, address: name, active: [...(this.active.get(name) ?? [])] })),
          hasEndpoints: this.hasEndpoints,
          leases: [],
        })),
      plan: planSwitch,
      predict: predictSwitch,
      perform: async (_tools, _record, step) =>
        under(faults, step.what, () => {
          if (step.type === "serve") this.stage = "Serve";
          if (step.type === "add-pool-member" && !this.members.some(({ name }) => name === own))
            this.members.push({ id: own, name: own, address: "hosted", port: 6443, isReady: true });
          if (step.type === "remove-pool-member") this.members = this.members.filter(({ id }) => id !== step.id);
          if (step.type === "stop-control-plane") this.active.get(step.address)?.clear();
          if (step.type === "write-endpoints") this.hasEndpoints = true;
          this.#check(step.what);
        }),
    });
  }

  rollback(faults: Faults): AnyPhase {
    return definePhase({
      name: "rollback",
      gather: async (): Promise<RollbackFacts> =>
        under(faults, "a read", () => ({
          stopped: masters
            .filter((name) => (this.active.get(name)?.size ?? 0) < units.length)
            .map((name) => ({ name, address: name })),
          members: [...this.members],
          isPoolBusy: false,
          ownMember: own,
          etcdLost: 0,
          hostedMember: this.hostedMember ? "9" : undefined,
          wantedStage: this.stage,
          isPaused: false,
          machineObjects: [],
          otherObjects: [...this.objects],
          unread: undefined,
          kubeProxy: undefined,
          groups: [...this.groups],
          newServers: [],
          agents: [],
          stoppedWorkloads: [],
        })),
      plan: planRollback,
      predict: predictRollback,
      perform: async (_tools, _record, step) =>
        under(faults, step.what, () => {
          if (step.type === "start-control-plane") for (const unit of units) this.active.get(step.address)?.add(unit);
          if (step.type === "add-pool-members")
            for (const name of masters)
              if (!this.members.some((one) => one.name === name))
                this.members.push({ id: name, name, address: name, port: 6443, isReady: true });
          if (step.type === "remove-pool-member") this.members = this.members.filter(({ id }) => id !== step.id);
          if (step.type === "follow") this.stage = "Follow";
          if (step.type === "remove-member") this.hostedMember = false;
          if (step.type === "delete-group") {
            if (this.objects.length > 0) this.broken.push(`${step.what} while it is in use`);
            this.groups = this.groups.filter(({ id }) => id !== step.id);
          }
          if (step.type === "forget-object") this.objects = this.objects.filter((one) => one !== step.object);
          this.#check(step.what);
        }),
    });
  }
}

const resources: readonly Resource[] = [
  { name: "kube-master", type: "OS::Nova::Server", id: "s0", parent: "0" },
  { name: "kube-master", type: "OS::Nova::Server", id: "s1", parent: "1" },
  { name: "kube_master_eth0", type: "OS::Neutron::Port", id: "p0", parent: "0" },
];

/** What retire takes away, with the order that keeps what lives. */
export class RetireWorld {
  stacks = [
    { id: "s1", name: "web" },
    { id: "s2", name: "web-big" },
  ];
  members = masters.map((name) => ({ id: name, name, peerURLs: [], isLearner: false }));
  nodes = ["m0"];
  left = [...resources];
  driver: readonly DriverObject[] = [
    { kind: "DaemonSet", name: "openstack-cloud-controller-manager" },
    { kind: "Secret", name: "os-trustee" },
  ];
  /** Reads until the driver's pods have ended. */
  podsUntil = 0;
  isMigrating = true;
  reads = 0;
  projects = [{ id: "h1", name: "p-s1", users: ["a", "b"] }];
  trustee: { isEnabled: boolean } | undefined = { isEnabled: true };
  seenSince = 0;
  hasRow = true;
  readonly broken: string[] = [];

  phase(faults: Faults): AnyPhase {
    return definePhase({
      name: "retire",
      gather: async (): Promise<RetireFacts> =>
        under(faults, "a read", () => {
          this.reads += 1;
          const isSeen = this.trustee?.isEnabled === false && this.reads > this.seenSince + 2;
          return {
            stacks: [...this.stacks],
            leaving: [],
            oldMembers: [...this.members],
            hasHostedMember: true,
            oldMachines: [],
            masterNodes: [...this.nodes],
            leftovers: [...this.left],
            changing: new Set(),
            kept: [],
            isMigrating: this.isMigrating,
            status: { status: this.isMigrating ? "UPDATE_IN_PROGRESS" : "UPDATE_COMPLETE", reason: "" },
            stackProjects: [...this.projects],
            magnum: {
              row: this.hasRow ? { trustId: "t", trusteeId: "u", certificates: [] } : undefined,
              trustee: this.trustee,
              silentNodes: isSeen ? [] : ["n0"],
            },
            driver: { objects: this.driver, kept: [], users: this.#hasPods() ? ["Pod kube-system/a"] : [], others: [] },
          };
        }),
      plan: planRetire,
      perform: async (_tools, _record, step) =>
        under(faults, step.what, () => {
          const wrong = (isWrong: boolean): void => void (isWrong && this.broken.push(step.what));
          if (step.type !== "abandon") wrong(this.stacks.length > 0);
          switch (step.type) {
            case "abandon":
              this.stacks = this.stacks.filter(({ id }) => id !== step.stack.id);
              return;
            case "remove-member":
              this.members = this.members.filter(({ id }) => id !== step.id);
              return;
            case "delete-node":
              this.nodes = this.nodes.filter((name) => name !== step.name);
              return;
            case "delete-driver-object":
              wrong(step.object.kind === "Secret" && this.#hasPods());
              this.driver = this.driver.filter(({ name }) => name !== step.object.name);
              this.podsUntil = this.reads + 2;
              return;
            case "delete-resource":
              wrong(this.members.length > 0);
              this.left = this.left.filter(({ id }) => id !== step.resource.id);
              return;
            case "hand-over":
              wrong(this.left.length > 0);
              this.isMigrating = false;
              return;
            case "delete-stack-project":
              wrong(this.isMigrating);
              this.projects = this.projects.filter(({ id }) => id !== step.project.id);
              return;
            case "disable-trustee":
              wrong(this.isMigrating || this.driver.length > 0 || this.#hasPods());
              this.trustee = { isEnabled: false };
              this.seenSince = this.reads;
              return;
            case "delete-trustee":
              wrong(this.trustee?.isEnabled !== false);
              this.trustee = undefined;
              return;
            case "delete-row":
              wrong(this.trustee !== undefined);
              this.hasRow = false;
              return;
          }
        }),
    });
  }

  #hasPods(): boolean {
    return this.driver.some(({ kind }) => kind === "DaemonSet") || this.reads < this.podsUntil;
  }
}
