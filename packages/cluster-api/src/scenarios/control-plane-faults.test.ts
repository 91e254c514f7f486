import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Machine } from "@causeway/api";
import type { Condition } from "@causeway/kubernetes";
import type { EtcdMember } from "../objects/access.ts";
import { control, observed, member, owned, podsOf } from "../testing/control-plane-observed.ts";
import { now } from "../testing/objects.ts";
import type { OwnedMachine } from "../kubeadmcontrolplane/observed.ts";
import { cleanupHook, configSpec } from "../kubeadmcontrolplane/machine.ts";
import { plan as planControlPlane } from "../kubeadmcontrolplane/plan.ts";
import { hasQuorum } from "../kubeadmcontrolplane/quorum.ts";
import type { ControlPlaneStep } from "../kubeadmcontrolplane/steps.ts";

// Two thousand schedules, where that many are requested, take minutes.
vi.setConfig({ testTimeout: 600_000 });

/** What goes wrong, or just takes its time, between two reconciles. */
const fault = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: "reconcile" } as const) },
  // The process ends after so many steps of a plan.
  { weight: 2, arbitrary: fc.record({ do: fc.constant("crash" as const), after: fc.nat(2) }) },
  // The cache does not show yet what was written last.
  { weight: 2, arbitrary: fc.constant({ do: "stale" } as const) },
  { weight: 5, arbitrary: fc.constant({ do: "progress" } as const) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), which: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("alarm" as const), which: fc.nat(4) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("edit" as const), replicas: fc.constantFrom(1, 3, 5), minor: fc.nat(1) }),
  },
);
type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

/** A control plane of three machines that serve, its etcd, and what is wanted of it. */
class Model {
  machines: OwnedMachine[] = ["a", "b", "c"].map((name, n) => owned(name, { born: now - 1000_000 + n }));
  seen: OwnedMachine[] = this.machines;
  members: EtcdMember[] = ["a", "b", "c"].map((name) => member(name));
  replicas = 3;
  version = "v1.34.0";
  kubeadmVersion = "v1.34.0";
  annotations: Record<string, string> = {};
  most = 0;
  readonly violations: string[] = [];
  /** Names of members that have left etcd. */
  readonly removed: string[] = [];
  #time = now;

  play(event: Fault): void {
    if (event.do === "progress") return this.progress();
    if (event.do === "fail") return this.#change(event.which, { failed: true });
    if (event.do === "alarm") {
      const found = this.members[event.which];
      // Only ever one: what a person breaks twice is not the controller's to keep.
      if (found && this.members.every(({ problem }) => problem === undefined) && this.members.length > 2) {
        this.members = this.members.map((one) => (one === found ? { ...one, problem: "it does not respond" } : one));
      }
      return;
    }
    if (event.do === "edit") {
      this.replicas = event.replicas;
      this.version = event.minor > 0 ? "v1.35.0" : this.version;
      return;
    }
    this.reconcile(event.do === "crash" ? event.after : Infinity, event.do === "stale");
  }

  /** Plans on what is seen, and performs the steps up to a crash. Returns how many steps there were. */
  reconcile(limit = Infinity, stale = false): number {
    if (!stale) this.seen = this.machines;
    const spec = { replicas: this.replicas, version: this.version };
    const base = observed(this.seen, {
      members: this.members,
      control: control({ spec, metadata: { annotations: this.annotations } }),
    });
    const booted = this.machines.flatMap(({ machine }) =>
      machine.status?.nodeRef ? [owned(machine.metadata.name)] : [],
    );
    const workload = {
      ...base.workload,
      kubeadmVersion: this.kubeadmVersion,
      pods: podsOf(booted),
    } as typeof base.workload;
    this.#time += 15_000;
    const { steps } = planControlPlane({ ...base, workload }, this.#time);
    for (const step of steps.slice(0, limit)) this.#perform(step);
    this.most = Math.max(
      this.most,
      this.machines.filter(({ machine }) => !machine.metadata.deletionTimestamp).length - this.replicas,
    );
    return steps.length;
  }

  /** Machines boot and join, drained ones reach their hook, and those without a hook go. */
  progress(): void {
    this.machines = this.machines.flatMap((one) => {
      const { metadata, status } = one.machine;
      if (metadata.deletionTimestamp) {
        if (metadata.annotations?.[cleanupHook] === undefined) {
          if (this.members.length > 1 && this.members.some(({ name }) => name === metadata.name)) {
            this.violations.push(`${metadata.name} went with its member`);
          }
          return [];
        }
        const waiting: Condition = {
          type: "Deleting",
          status: "True",
          reason: "WaitingForPreTerminateHook",
          lastTransitionTime: "",
        };
        return [withConditions(one, [waiting])];
      }
      if (status?.nodeRef || !hasQuorum(this.members)) return [one];
      this.members = [...this.members, member(metadata.name, { isLeader: false })];
      return [{ ...one, machine: { ...one.machine, status: { ...status, nodeRef: { name: metadata.name } } } }];
    });
  }

  #change(which: number, { failed }: { readonly failed: boolean }): void {
    this.machines = this.machines.map((one, n) =>
      n === which && failed && one.machine.status?.nodeRef
        ? withConditions(
            one,
            ["HealthCheckSucceeded", "OwnerRemediated"].map((type) => ({
              type,
              status: "False",
              reason: "R",
              lastTransitionTime: "",
            })),
          )
        : one,
    );
  }

  #perform(step: ControlPlaneStep): void {
    switch (step.type) {
      case "create":
        if (
          step.resource.kind !== "Machine" ||
          this.machines.some(({ machine }) => machine.metadata.name === step.object.metadata.name)
        )
          return;
        return this.#create(step.object as Machine);
      case "delete":
        this.machines = this.machines.map((one) =>
          one.machine.metadata.uid === step.uid
            ? edited(one, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })
            : one,
        );
        return;
      case "patch":
        if (step.resource.kind === "KubeadmControlPlane") return this.#note(step.body);
        this.machines = this.machines.map((one) =>
          one.machine.metadata.name === step.key.name ? edited(one, step.body) : one,
        );
        return;
      case "set-conditions":
        this.machines = this.machines.map((one) =>
          one.machine.metadata.name === step.machine.metadata.name ? withConditions(one, step.conditions) : one,
        );
        return;
      case "update-kubeadm-config":
        this.kubeadmVersion = step.version;
        return;
      case "move-leader":
        this.members = this.members.map((one) => ({ ...one, isLeader: one.id === step.to.id }));
        return;
      case "remove-member":
        if (this.members.some(({ id }) => id === step.member.id)) this.removed.push(step.member.name);
        this.members = this.members.filter(({ id }) => id !== step.member.id);
        if (!hasQuorum(this.members)) this.violations.push(`no quorum without ${step.member.name}`);
        return;
      default:
    }
  }

  #create(machine: Machine): void {
    this.#time += 1;
    const made = owned(machine.metadata.name, { noNode: true, unhealthy: true, born: this.#time });
    const { host, config } = made;
    const joins = config?.object
      ? { ...config, object: { ...config.object, spec: configSpec(control(), "join") } }
      : undefined;
    const status = { initialization: { infrastructureProvisioned: true } };
    const metadata = { ...made.machine.metadata, ...machine.metadata };
    this.machines = [
      ...this.machines,
      { host, config: joins, machine: { ...machine, metadata: { ...metadata, uid: `uid-${this.#time}` }, status } },
    ];
  }

  #note(body: Readonly<Record<string, unknown>>): void {
    const { annotations = {} } = body["metadata"] as { annotations?: Record<string, string | null> };
    const all = Object.entries({ ...this.annotations, ...annotations });
    this.annotations = Object.fromEntries(all.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
  }
}

function withConditions(one: OwnedMachine, conditions: readonly Condition[]): OwnedMachine {
  const { status } = one.machine;
  const kept = (status?.conditions ?? []).filter(
    ({ type }) => !conditions.some((condition) => condition.type === type),
  );
  return { ...one, machine: { ...one.machine, status: { ...status, conditions: [...kept, ...conditions] } } };
}

/** A merge patch of a machine, as far as the controller uses it. */
function edited(one: OwnedMachine, body: Readonly<Record<string, unknown>>): OwnedMachine {
  const {
    annotations = {},
    labels = {},
    deletionTimestamp,
  } = (body["metadata"] ?? {}) as {
    annotations?: Record<string, string | null>;
    labels?: Record<string, string>;
    deletionTimestamp?: string;
  };
  const { machine } = one;
  const notes = Object.entries({ ...machine.metadata.annotations, ...annotations });
  const metadata = {
    ...machine.metadata,
    labels: { ...machine.metadata.labels, ...labels },
    annotations: Object.fromEntries(notes.flatMap(([key, value]) => (value === null ? [] : [[key, value]]))),
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
  };
  return {
    ...one,
    machine: { ...machine, metadata, spec: { ...machine.spec, ...(body["spec"] as object | undefined) } },
  };
}

/** How many steps are performed before the process ends; a machine leaves in three at most. */
const points = [0, 1, 2, 3];

test.each(["a", "b"])("machine %s leaves etcd and goes, wherever the processes are killed that remove it", (leaver) => {
  for (const first of points)
    for (const second of points)
      for (const isStale of [false, true]) {
        const model = new Model();
        model.machines = model.machines.map((one) =>
          one.machine.metadata.name === leaver
            ? edited(one, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })
            : one,
        );
        // It is drained, and waits for its hook.
        model.progress();
        model.reconcile(first);
        model.reconcile(second, isStale);
        for (let round = 0, idle = 0; round < 50 && idle < 3; round++) {
          idle = model.reconcile() === 0 ? idle + 1 : 0;
          model.progress();
        }
        const names = model.machines.map(({ machine }) => machine.metadata.name).toSorted();
        expect({
          violations: model.violations,
          isThere: names.includes(leaver),
          machines: names.length,
          members: model.members.map(({ name }) => name).toSorted(),
          removed: model.removed,
        }).toEqual({ violations: [], isThere: false, machines: 3, members: names, removed: [leaver] });
      }
});

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_CONTROL_PLANES"] ?? 300);

test(`${SCHEDULES} schedules of faults keep etcd's quorum, and end with the machines that are wanted`, () => {
  fc.assert(
    fc.property(fc.array(fault, { maxLength: 40 }), (schedule) => {
      const model = new Model();
      for (const event of schedule) model.play(event);
      // Then nothing goes wrong any more.
      model.members = model.members.map(({ name, isLeader }) => member(name, { isLeader }));
      for (let round = 0, idle = 0; round < 300 && idle < 3; round++) {
        idle = model.reconcile() === 0 ? idle + 1 : 0;
        model.progress();
      }
      const names = model.machines.map(({ machine }) => machine.metadata.name).toSorted();
      expect({
        violations: model.violations,
        machines: names.length,
        versions: [...new Set(model.machines.map(({ machine }) => machine.spec.version))],
        members: model.members.map(({ name }) => name).toSorted(),
        idle: model.reconcile(),
      }).toEqual({ violations: [], machines: model.replicas, versions: [model.version], members: names, idle: 0 });
    }),
    {
      numRuns: SCHEDULES,
      seed: Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1),
      // Of two machines one failed: neither was it replaced nor was a third one added (schedule 962 of seed 8).
      examples: [
        [
          [
            { do: "edit", replicas: 1, minor: 0 },
            { do: "reconcile" },
            { do: "edit", replicas: 5, minor: 0 },
            { do: "fail", which: 1 },
          ],
        ],
      ],
    },
  );
});
