import { Machine, MachineDeployment } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { getCondition } from "@causeway/kubernetes";
import {
  control,
  day,
  externalEtcd,
  observed,
  member,
  owned,
  podsOf,
  type MachineGiven,
} from "../testing/control-plane-observed.ts";
import { at, now } from "../testing/objects.ts";
import type { Observed } from "./observed.ts";
import { cleanupHook } from "./machine.ts";
import { controlPlaneStepEvents, plan as planControlPlane } from "./plan.ts";
import type { ControlPlaneStep } from "./steps.ts";
import { memberRemoval } from "./removal.ts";

const three = ["a", "b", "c"].map((name, n) => owned(name, { born: now - day + n }));
const oldVersion = "* Version v1.33.0, v1.34.0 required";
const old = (name: string, given: MachineGiven = {}) =>
  owned(name, { version: "v1.33.0", outdated: oldVersion, ...given });

interface ExternalGiven {
  readonly initialized?: false;
  readonly missingCertificates?: Observed["missingCertificates"];
  readonly failed?: string;
  readonly leaving?: string;
}

/** A control plane whose etcd is elsewhere, with machines of these names and perhaps one more. */
function withExternal(names: readonly string[], given: ExternalGiven = {}): Observed {
  const { missingCertificates = [], failed, leaving, initialized = true } = given;
  const one = (name: string, more: MachineGiven = {}) =>
    owned(name, { born: now - day + name.charCodeAt(0), external: true, ...more });
  const machines = [
    ...names.map((name) => one(name)),
    ...(failed ? [one(failed, { failed: true })] : []),
    ...(leaving ? [one(leaving, { deleting: "WaitingForPreTerminateHook" })] : []),
  ];
  const base = observed(machines, { control: control({ initialized, spec: externalEtcd }), missingCertificates });
  return { ...base, workload: { ...base.workload, etcd: { external: true } } as Observed["workload"] };
}

describe("the steps of a KubeadmControlPlane", () => {
  const created = { type: "create", resource: { kind: "Machine" } };
  const deleted = (name: string) => ({ type: "delete", key: { name } });
  const table: [title: string, given: Observed, steps: object[], blocked?: RegExp][] = [
    [
      "certificates come first",
      observed([], { control: control({ initialized: false }), missingCertificates: ["ca", "sa"] }),
      [{ type: "create-certificates", purposes: ["ca", "sa"] }],
    ],
    [
      "a certificate lost after initialization is not made again",
      observed(three, { missingCertificates: ["etcd"] }),
      [],
      /etcd/,
    ],
    [
      "then the kubeconfig",
      observed([], { control: control({ initialized: false }), kubeconfig: { exists: false } }),
      [{ type: "write-kubeconfig" }],
    ],
    [
      "a kubeconfig past half of its life is renewed",
      observed(three, { kubeconfig: { exists: true, expires: now + 182 * day } }),
      [{ type: "write-kubeconfig" }],
    ],
    ["a kubeconfig of the user is left alone", observed(three, { kubeconfig: { exists: true } }), []],
    ["the first machine initialises", observed([], { control: control({ initialized: false }) }), [created]],
    [
      "no second machine before that",
      observed([owned("a")], { control: control({ initialized: false }) }),
      [],
      /not initialized/,
    ],
    ["a machine is added once all others serve", observed(three.slice(0, 2)), [created]],
    ["none while one has no Node", observed([owned("a"), owned("b", { noNode: true })]), [{ type: "set-conditions" }]],
    [
      "none while etcd cannot be inspected",
      {
        ...observed(three.slice(0, 2)),
        workload: { ...observed(three.slice(0, 2)).workload, etcd: { problem: "no route" } } as never,
      },
      [{ type: "set-conditions" }, { type: "set-conditions" }],
    ],
    ["three that serve need nothing", observed(three), []],
    ["one too many is removed, the oldest first", observed([...three, owned("d")]), [deleted("a")]],
    [
      "a machine marked for deletion goes before others",
      observed([...three, owned("d", { born: now, annotations: { "cluster.x-k8s.io/delete-machine": "" } })]),
      [deleted("d")],
    ],
    [
      "a machine of the fullest failure domain goes",
      observed([
        owned("a", { domain: "x" }),
        owned("b", { domain: "y" }),
        owned("c", { domain: "z" }),
        owned("d", { domain: "y", born: now }),
      ]),
      [deleted("b")],
    ],
    [
      "none is removed while another one is being deleted",
      observed([...three, owned("d", { deleting: "DrainingNode" })]),
      [],
      /d is being deleted/,
    ],
    [
      "a new version is written for those that join",
      observed([old("a"), old("b"), old("c")], {
        workload: {
          ...observed([]).workload,
          pods: podsOf([old("a"), old("b"), old("c")]),
          etcd: { members: ["a", "b", "c"].map((name) => member(name)) },
          kubeadmVersion: "v1.33.0",
        } as never,
      }),
      [{ type: "update-kubeadm-config", version: "v1.34.0" }],
    ],
    ["then a machine of it is added", observed([old("a"), old("b"), old("c")]), [created]],
    [
      "then an outdated one removed",
      observed([old("a", { born: now - 2 * day }), old("b"), old("c"), owned("d")]),
      [deleted("a")],
    ],
    [
      "two minor versions at once are refused",
      observed([
        owned("a", { version: "v1.32.0", outdated: "* Version v1.32.0, v1.34.0 required" }),
        ...three.slice(1),
      ]),
      [],
      /one minor at a time/,
    ],
    [
      "a lower version is refused",
      observed([
        owned("a", { version: "v1.35.0", outdated: "* Version v1.35.0, v1.34.0 required" }),
        ...three.slice(1),
      ]),
      [],
      /cannot be downgraded/,
    ],
    [
      "another template replaces machines",
      observed([
        ...three.slice(0, 2),
        owned("c", { template: "before", outdated: "* OpenStackMachine is not up-to-date" }),
      ]),
      [created],
    ],
    [
      "certificates that expire soon replace machines",
      observed(
        [
          ...three.slice(0, 2),
          owned("c", {
            annotations: { "machine.cluster.x-k8s.io/certificates-expiry": at(now + 20 * day) },
            outdated: "* Certificates will expire soon",
          }),
        ],
        {
          control: control({ spec: { rollout: { before: { certificatesExpiryDays: 21 } } } }),
        },
      ),
      [created],
    ],
    [
      "maxSurge 0 removes one first",
      observed([old("a", { born: now - 2 * day }), old("b"), old("c")], {
        control: control({
          spec: { rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0 } } } },
        }),
      }),
      [deleted("a")],
    ],
    [
      "a deleted machine's member leaves etcd, leadership first, and the machine goes in the same round",
      observed([owned("a", { deleting: "WaitingForPreTerminateHook" }), ...three.slice(1)]),
      [
        { type: "move-leader", to: { name: "c" } },
        { type: "remove-member", member: { name: "a" } },
        { type: "patch", body: { metadata: { annotations: { [cleanupHook]: null } } } },
      ],
    ],
    [
      "its hook goes where its member has left before",
      observed([owned("a", { deleting: "WaitingForPreTerminateHook", noMember: true }), ...three.slice(1)], {
        members: [member("b"), member("c")],
      }),
      [{ type: "patch", body: { metadata: { annotations: { [cleanupHook]: null } } } }],
    ],
    [
      "the hooks of others go first",
      observed([
        owned("a", {
          deleting: "WaitingForPreTerminateHook",
          annotations: { "pre-terminate.delete.hook.machine.cluster.x-k8s.io/other": "" },
        }),
        ...three.slice(1),
      ]),
      [],
    ],
    [
      "a member without a machine is removed",
      observed(three, { members: ["a", "b", "c", "x"].map((name) => member(name)) }),
      [{ type: "remove-member", member: { name: "x" } }],
    ],
    [
      "a machine that failed its health check is noted, then deleted",
      observed([...three.slice(0, 2), owned("c", { failed: true })]),
      [{ type: "patch" }, deleted("c")],
    ],
    [
      "it is deleted after a crash between the two",
      observed([...three.slice(0, 2), owned("c", { failed: true })], {
        control: control({
          metadata: {
            annotations: {
              "controlplane.cluster.x-k8s.io/remediation-in-progress": JSON.stringify({
                machine: "c",
                timestamp: at(now),
                retryCount: 0,
              }),
            },
          },
        }),
      }),
      [deleted("c")],
    ],
    [
      "it remains while etcd could lose its quorum",
      observed([...three.slice(0, 2), owned("c", { failed: true })], {
        members: [member("a"), member("b", { problem: "down" }), member("c", { problem: "down" })],
      }),
      [{ type: "set-conditions" }, { type: "set-conditions" }],
    ],
    [
      "one of two remains, and a third is added first",
      observed([owned("a"), owned("b", { failed: true })], {
        members: [member("a"), member("b")],
        control: control({ spec: { replicas: 3 } }),
      }),
      [{ type: "create" }],
    ],
    [
      "one of two remains alone where no third is wanted",
      observed([owned("a"), owned("b", { failed: true })], {
        members: [member("a"), member("b")],
        control: control({ spec: { replicas: 2 } }),
      }),
      [],
      /lose its quorum/,
    ],
    [
      "the last machine remains",
      observed([owned("a", { failed: true })], { control: control({ spec: { replicas: 1 } }) }),
      [],
      /one machine only/,
    ],
    [
      "deletion waits for the workers",
      observed(three, { control: control({ metadata: { deletionTimestamp: at(now) } }), workers: 2 }),
      [],
      /2 workers/,
    ],
    [
      "then deletes all machines at once, without care for etcd",
      observed(three, { control: control({ metadata: { deletionTimestamp: at(now) } }) }),
      ["a", "b", "c"].flatMap((name) => [{ type: "patch" }, deleted(name)]),
    ],
    [
      "external etcd needs Secrets that the user makes",
      withExternal([], { initialized: false, missingCertificates: ["ca", "etcd", "apiserver-etcd-client"] }),
      [],
      /create Secret demo-etcd with tls\.crt, and Secret demo-apiserver-etcd-client with tls\.crt and tls\.key/,
    ],
    [
      "with external etcd the other certificates are made",
      withExternal([], { initialized: false, missingCertificates: ["ca", "sa"] }),
      [{ type: "create-certificates", purposes: ["ca", "sa"] }],
    ],
    ["with external etcd three that serve need nothing", withExternal(["a", "b", "c"]), []],
    ["with external etcd a machine is added while all others serve", withExternal(["a", "b"]), [created]],
    [
      "with external etcd one too many is removed, whatever its members do",
      withExternal(["a", "b", "c", "d"]),
      [deleted("a")],
    ],
    [
      "with external etcd a machine that failed is replaced",
      withExternal(["a", "b"], { failed: "c" }),
      [{ type: "patch" }, deleted("c")],
    ],
    [
      "with external etcd a deleted machine may go at once",
      withExternal(["a", "b"], { leaving: "c" }),
      [{ type: "patch", body: { metadata: { annotations: { [cleanupHook]: null } } } }],
    ],
  ];
  test.each(table)("%s", (_title, given, steps, blocked) => {
    const plan = planControlPlane(given, now);
    expect(plan.steps.map((step) => step.type)).toEqual(steps.map((step) => (step as { type: string }).type));
    expect(plan.steps).toMatchObject(steps);
    if (blocked) expect(plan.wait?.for).toMatch(blocked);
  });
});

test("a replacement says which machine it replaces, and retries are counted and limited", () => {
  const note = (retryCount: number, age: number) =>
    JSON.stringify({ machine: "z", timestamp: at(now - age), retryCount });
  const failed = (text: string) =>
    owned("c", { failed: true, annotations: { "controlplane.cluster.x-k8s.io/remediation-for": text } });
  const spec = { remediation: { maxRetry: 2, retryPeriodSeconds: 600, minHealthyPeriodSeconds: 3600 } };
  const plan = (text: string) =>
    planControlPlane(observed([...three.slice(0, 2), failed(text)], { control: control({ spec }) }), now);
  expect(plan(note(2, 1000_000)).wait?.for).toMatch(/maxRetry/);
  expect(plan(note(1, 60_000)).wait?.for).toMatch(/retryPeriodSeconds/);
  const again = plan(note(1, 1000_000)).steps[0];
  expect(JSON.stringify(again)).toContain(String.raw`\"retryCount\":2`);
  // After a healthy hour the count begins again.
  expect(JSON.stringify(plan(note(2, 4000_000)).steps[0])).toContain(String.raw`\"retryCount\":0`);
});

test("conditions and counters report what is so", () => {
  const { status } = planControlPlane(
    observed([old("a", { born: now - 2 * day }), ...three.slice(1), owned("d", { unhealthy: true })]),
    now,
  );
  const summary = ["Available", "Initialized", "EtcdClusterHealthy", "RollingOut", "ScalingDown"].map(
    (type) => `${type}=${getCondition(status.conditions, type)?.status}`,
  );
  expect(summary).toEqual([
    "Available=True",
    "Initialized=True",
    "EtcdClusterHealthy=False",
    "RollingOut=True",
    "ScalingDown=True",
  ]);
  expect(status).toMatchObject({ replicas: 4, upToDateReplicas: 3, version: "v1.33.0" });
});

test("a deleted machine keeps its member while the others would have no quorum", () => {
  const machines = [owned("a", { deleting: "WaitingForPreTerminateHook" }), ...three.slice(1)];
  const removal = (problem: Partial<ReturnType<typeof member>>) =>
    memberRemoval(observed(machines, { members: [member("a"), member("b"), member("c", problem)] })).map(
      (step) => step.type,
    );
  expect(removal({})).toEqual(["move-leader", "remove-member", "patch"]);
  expect(removal({ problem: "it does not respond" })).toEqual([]);
});

test("a machine whose member has left is released although its status has changed meanwhile, but no other one of its name", () => {
  const machines = [owned("a", { deleting: "WaitingForPreTerminateHook" }), ...three.slice(1)];
  const { metadata } = machines[0]!.machine;
  metadata.resourceVersion = "7";
  const steps = memberRemoval(observed(machines, { members: [member("a"), member("b"), member("c")] }));
  expect(steps.at(-1)).toMatchObject({ type: "patch", key: { name: "a" } });
  expect(steps.at(-1)).toHaveProperty("body.metadata", {
    ...(metadata.uid ? { uid: metadata.uid } : {}),
    annotations: { "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup": null },
  });
  expect(metadata.uid).toBeDefined();
});

test("the events of a control plane's steps name the machine or the member", () => {
  const key = { namespace: "default", name: "a" };
  const machine = owned("a").machine;
  const steps: [ControlPlaneStep, string | undefined][] = [
    [{ type: "create", resource: Machine, object: machine }, "SuccessfulCreate: Created machine a"],
    [{ type: "create", resource: MachineDeployment, object: machine }, undefined],
    [{ type: "delete", resource: Machine, key, uid: "x" }, "SuccessfulDelete: Deleting machine a"],
    [
      { type: "set-addon-image", addon: "coredns", image: "r/coredns:v1" },
      "AddonImageChanged: Set the image of coredns to r/coredns:v1",
    ],
    [{ type: "remove-member", member: member("a") }, "EtcdMemberRemoved: Removed etcd member a"],
    [{ type: "move-leader", to: member("b") }, "EtcdLeaderMoved: Moved etcd's leadership to b"],
    [{ type: "write-kubeconfig" }, undefined],
  ];
  for (const [step, expected] of steps) {
    const events = controlPlaneStepEvents(step);
    expect(events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual(
      expected === undefined ? [] : [`Normal ${expected}`],
    );
  }
});
