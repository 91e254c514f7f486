import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { finalizers, KubeadmConfig, OpenStackMachine, type Machine } from "@causeway/api";
import type { Node, Pod } from "@causeway/kubernetes";
import { nodeAwaitingVolumes } from "../machine/deletion.ts";
import type { Observed as MachineObserved } from "../machine/observed.ts";
import { plan as planMachine } from "../machine/plan.ts";
import type { MachineStep } from "../machine/steps.ts";
import { cluster, machine, node, now, podOn, referred } from "../testing/objects.ts";

// Two thousand schedules, where that many are requested, take minutes.
vi.setConfig({ testTimeout: 600_000 });

const preDrain = "pre-drain.delete.hook.machine.cluster.x-k8s.io/a";
const preTerminate = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/a";

const fault = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ do: "reconcile" } as const) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("crash" as const), after: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.constant({ do: "stale" } as const) },
  { weight: 8, arbitrary: fc.constant({ do: "progress" } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("reach" as const), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: "delete" } as const) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("unhook" as const), which: fc.constantFrom(preDrain, preTerminate) }),
  },
);
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

interface State {
  readonly machine: Machine | undefined;
  readonly host: { readonly provisioned: boolean; readonly deleting: boolean } | undefined;
  readonly config: { readonly ready: boolean; readonly deleting: boolean } | undefined;
  readonly node: Node | undefined;
  readonly pods: readonly Pod[];
  readonly reach: boolean;
}

const name = "m";
const daemonSet = { apiVersion: "apps/v1", kind: "DaemonSet", name: "proxy", uid: "uid-set", controller: true };
const stays = podOn("proxy", { namespace: "kube-system", ownerReferences: [daemonSet] });
const evicted = podOn("web");
const isEnding = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** A Machine with its host, bootstrap object, Node and pods, each of which comes and goes in its own time. */
class Model {
  state: State = {
    machine: machine(name, {
      metadata: { ...machine(name).metadata, annotations: { [preDrain]: "", [preTerminate]: "" } },
    }),
    host: { provisioned: false, deleting: false },
    config: { ready: false, deleting: false },
    node: undefined,
    pods: [evicted, stays],
    reach: true,
  };
  seen: State = this.state;
  /** What was done too early. */
  readonly wrongs: string[] = [];
  #time = now;

  play(event: Fault): void {
    const { state } = this;
    switch (event.do) {
      case "progress":
        return this.progress();
      case "reach":
        this.state = { ...state, reach: event.on };
        return;
      case "delete":
        return this.delete();
      case "unhook":
        return this.unhook(event.which);
      case "crash":
        return void this.reconcile({ limit: event.after });
      case "stale":
        return void this.reconcile({ stale: true });
      case "reconcile":
        return void this.reconcile();
    }
  }

  delete(): void {
    const one = this.state.machine;
    if (!one || one.metadata.deletionTimestamp) return;
    const gone = one.metadata.finalizers?.includes(finalizers.machine) !== true;
    const deletionTimestamp = new Date(this.#time).toISOString();
    const leaving = { ...one, metadata: { ...one.metadata, deletionTimestamp } };
    // Without a finalizer its owner's garbage collection takes the provider objects.
    this.state = gone
      ? { ...this.state, machine: undefined, host: undefined, config: undefined }
      : { ...this.state, machine: leaving };
  }

  unhook(hook: string): void {
    const one = this.state.machine;
    if (!one) return;
    const { [hook]: _gone, ...annotations } = one.metadata.annotations ?? {};
    this.state = { ...this.state, machine: { ...one, metadata: { ...one.metadata, annotations } } };
  }

  reconcile({ limit = Infinity, stale = false } = {}): number {
    if (!stale) this.seen = this.state;
    this.#time += 5_000;
    const one = this.seen.machine;
    const isGone = !one || (one.metadata.deletionTimestamp && !one.metadata.finalizers?.includes(finalizers.machine));
    if (isGone) return 0;
    const plan = planMachine(this.#observed(one), this.#time);
    for (const step of plan.steps.slice(0, limit)) this.#perform(step);
    if (plan.steps.length <= limit && this.state.machine)
      this.state = { ...this.state, machine: { ...this.state.machine, status: plan.status } };
    // Owners and labels of provider objects are not kept here.
    return plan.steps.filter((step) => step.type !== "patch" || step.resource.kind === "Machine").length;
  }

  /** Providers and the kubelet do their part. */
  progress(): void {
    const { machine: one, host, config, node: found, pods } = this.state;
    const provisioned =
      host && !host.deleting ? { ...host, provisioned: config?.ready === true || host.provisioned } : undefined;
    const ready = config && !config.deleting ? { ...config, ready: true } : undefined;
    const hasJoined =
      found === undefined && provisioned?.provisioned === true && one?.metadata.deletionTimestamp === undefined;
    this.state = {
      ...this.state,
      host: provisioned,
      config: ready,
      node: hasJoined ? node(name) : found,
      pods: pods.filter((pod) => !isEnding(pod)),
    };
  }

  #observed(one: Machine): MachineObserved {
    const { host, config, node: found, pods, reach } = this.seen;
    const infrastructure = host && {
      spec: { providerID: `openstack:///${name}` },
      status: { initialization: { provisioned: host.provisioned } },
      deleting: host.deleting,
    };
    const bootstrap = config && {
      status: config.ready ? { dataSecretName: name, initialization: { dataSecretCreated: true } } : {},
      deleting: config.deleting,
    };
    const drain = { pods, rules: [], namespaces: new Map() };
    const observed: MachineObserved = {
      machine: one,
      cluster: cluster(),
      machineSet: undefined,
      deployment: undefined,
      infrastructure: referred("OpenStackMachine", name, infrastructure),
      bootstrap: referred("KubeadmConfig", name, bootstrap),
      workload: reach ? { reach: "connected", nodes: found ? [found] : [], drain } : { reach: "unreachable" },
    };
    if (observed.workload.reach === "unreachable" || !nodeAwaitingVolumes(observed, this.#time)) return observed;
    const volumes = { attachments: [], persistentVolumes: [] };
    return { ...observed, workload: { ...observed.workload, drain: { ...drain, volumes } } };
  }

  #perform(step: MachineStep): void {
    const { machine: one, host, config, node: found, pods } = this.state;
    switch (step.type) {
      case "patch":
        if (step.resource.kind === "Machine" && one) this.#patchMachine(one, step.body);
        return;
      case "delete":
        if (step.resource.kind === OpenStackMachine.kind && host) {
          this.#mayEnd();
          this.state = { ...this.state, host: { ...host, deleting: true } };
        }
        if (step.resource.kind === KubeadmConfig.kind && config)
          this.state = { ...this.state, config: { ...config, deleting: true } };
        return;
      case "patch-node": {
        const { spec, metadata } = step.body as { spec?: Node["spec"]; metadata?: Node["metadata"] };
        if (spec?.unschedulable && this.#has(preDrain)) this.wrongs.push("cordoned before the hook was removed");
        if (found)
          this.state = {
            ...this.state,
            node: { ...found, metadata: merge(found.metadata, metadata), spec: { ...found.spec, ...spec } },
          };
        return;
      }
      case "drain": {
        if (this.#has(preDrain)) this.wrongs.push("drained before the hook was removed");
        const uids = new Set(step.pods.map(({ uid }) => uid));
        if (uids.has(stays.metadata.uid ?? "")) this.wrongs.push("evicted a pod that remains");
        const deletionTimestamp = new Date(this.#time).toISOString();
        this.state = {
          ...this.state,
          pods: pods.map((pod) =>
            uids.has(pod.metadata.uid ?? "") ? { ...pod, metadata: { ...pod.metadata, deletionTimestamp } } : pod,
          ),
        };
        return;
      }
      case "delete-node":
        if (host) this.wrongs.push("the Node was deleted before its host");
        this.state = { ...this.state, node: undefined };
        return;
      default:
        return;
    }
  }

  #patchMachine(one: Machine, body: Readonly<Record<string, unknown>>): void {
    const { metadata, spec } = body as { metadata?: Machine["metadata"]; spec?: Partial<Machine["spec"]> };
    const merged = merge(one.metadata, metadata);
    const bootstrap = { ...one.spec.bootstrap, ...spec?.bootstrap };
    const isLeft = one.metadata.deletionTimestamp !== undefined && merged.finalizers?.length === 0;
    const patched = { ...one, metadata: merged, spec: { ...one.spec, ...spec, bootstrap } };
    this.state = { ...this.state, machine: isLeft ? undefined : patched };
  }

  #has(hook: string): boolean {
    return this.seen.machine?.metadata.annotations?.[hook] !== undefined;
  }

  /** Judges the deletion of the host by what was seen. */
  #mayEnd(): void {
    if (this.#has(preDrain) || this.#has(preTerminate)) this.wrongs.push("the host was deleted while a hook was there");
    const { machine: one, pods, node: found } = this.seen;
    const mattered = one?.status?.nodeRef !== undefined && found !== undefined && this.seen.reach;
    if (mattered && pods.some(({ metadata }) => metadata.uid !== stays.metadata.uid))
      this.wrongs.push("the host was deleted before its pods");
  }
}

/** A merge patch of metadata, without its lock. */
function merge<M extends Machine["metadata"]>(before: M, patch: Partial<Machine["metadata"]> = {}): M {
  const { uid: _uid, resourceVersion: _lock, labels, annotations, ...rest } = patch;
  return {
    ...before,
    ...rest,
    ...(labels ? { labels: { ...before.labels, ...labels } } : {}),
    ...(annotations ? { annotations: { ...before.annotations, ...annotations } } : {}),
  };
}

const RUNS = Number(process.env["CAUSEWAY_MACHINE_SCHEDULES"] ?? 2000);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 7);

test(`${RUNS} schedules of faults bring a Machine up, or take it down in order and leave nothing`, () => {
  fc.assert(
    fc.property(fc.array(fault, { maxLength: 50 }), (events) => {
      const model = new Model();
      for (const event of events) model.play(event);
      model.play({ do: "reach", on: true });
      for (const hook of [preDrain, preTerminate]) model.unhook(hook);
      const isDeleted =
        model.state.machine === undefined || model.state.machine.metadata.deletionTimestamp !== undefined;
      for (let round = 0; round < 20; round++) {
        model.reconcile();
        model.progress();
      }
      expect(model.reconcile()).toBe(0);
      expect(model.wrongs).toEqual([]);
      const { machine: one, host, config, node: found } = model.state;
      if (isDeleted) {
        expect([one, host, config]).toEqual([undefined, undefined, undefined]);
      } else {
        expect(one?.status?.phase).toBe("Running");
        expect(one?.spec.providerID).toBe(`openstack:///${name}`);
        expect(one?.status?.nodeRef).toEqual({ name });
        expect([host?.provisioned, config?.ready, found?.spec?.unschedulable]).toEqual([true, true, undefined]);
      }
    }),
    { numRuns: RUNS, seed: SEED },
  );
});
