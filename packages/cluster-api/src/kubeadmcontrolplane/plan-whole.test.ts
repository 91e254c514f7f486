import type { Machine } from "@causeway/api";
import { describe, expect, test } from "vitest";
import {
  control,
  day,
  demo,
  externalEtcd,
  member,
  observed,
  owned,
  type MachineGiven,
} from "../testing/control-plane-observed.ts";
import { at, cluster, condition, now } from "../testing/objects.ts";
import type { Observed, OwnedMachine } from "./observed.ts";
import { plan } from "./plan.ts";

const three = ["a", "b", "c"].map((name, n) => owned(name, { born: now - day + n }));
const types = (given: Observed) => plan(given, now).steps.map((step) => step.type);
const gone = { deletionTimestamp: at(now) };
const outdatedOnes = ["a", "b", "c"].map((name) =>
  owned(name, { version: "v1.33.0", outdated: "* Version v1.33.0, v1.34.0 required" }),
);

describe("when a KubeadmControlPlane is planned again", () => {
  test.each<[string, Observed, string, number]>([
    ["a minute later while all is well", observed(three), "changes", 60_000],
    [
      "soon while something blocks it",
      observed(three, { cluster: undefined }),
      "Waiting for a Cluster to refer to this control plane",
      15_000,
    ],
    [
      "when the time of a rollout comes",
      observed(three, { control: control({ spec: { rollout: { after: at(now + 5_000) } } }) }),
      "changes",
      5_000,
    ],
    [
      "a minute later where the rollout is later than that",
      observed(three, { control: control({ spec: { rollout: { after: at(now + 90_000) } } }) }),
      "changes",
      60_000,
    ],
    [
      "when a failed machine may be replaced again",
      observed(
        [
          ...three.slice(0, 2),
          owned("c", {
            failed: true,
            annotations: {
              "controlplane.cluster.x-k8s.io/remediation-for": JSON.stringify({
                machine: "z",
                timestamp: at(now - 1000),
                retryCount: 0,
              }),
            },
          }),
        ],
        { control: control({ spec: { remediation: { retryPeriodSeconds: 5 } } }) },
      ),
      "Waiting for remediation.retryPeriodSeconds",
      4_000,
    ],
  ])("is %s", (_, given, reason, delay) => {
    expect(plan(given, now)).toMatchObject({ steps: [], events: [], wait: { for: reason, until: now + delay } });
  });
});

describe("a KubeadmControlPlane does nothing but wait", () => {
  const clusterWith = (fields: object) => ({ ...demo, ...fields });
  const { infrastructure } = observed(three);
  test.each<[string, Partial<Observed>, string]>([
    ["without a Cluster", { cluster: undefined }, "Waiting for a Cluster to refer to this control plane"],
    [
      "while its Cluster is being deleted",
      { cluster: clusterWith({ metadata: { ...demo.metadata, ...gone } }) },
      "The Cluster is being deleted",
    ],
    [
      "before the infrastructure is there",
      { cluster: clusterWith({ status: {} }) },
      "Waiting for the cluster's infrastructure",
    ],
    [
      "before the Cluster has an endpoint",
      { cluster: clusterWith({ spec: {} }) },
      "Waiting for the Cluster's spec.controlPlaneEndpoint",
    ],
    [
      "while the template of its machines does not exist",
      { infrastructure: { ...infrastructure, object: undefined } },
      "OpenStackMachineTemplate control does not exist",
    ],
    ["where certificates were lost", { missingCertificates: ["ca", "etcd"] }, "Certificates are missing: ca, etcd"],
    [
      "where certificates were lost after its machines were created",
      { control: control({ initialized: false }), missingCertificates: ["ca"] },
      "Certificates are missing: ca",
    ],
    [
      "where they were lost with all machines",
      { machines: [], missingCertificates: ["ca"] },
      "Certificates are missing: ca",
    ],
    [
      "until the Secrets of an external etcd are there",
      {
        control: control({ spec: externalEtcd }),
        missingCertificates: ["etcd", "apiserver-etcd-client"],
      },
      "etcd is external: create Secret demo-etcd with tls.crt, and Secret demo-apiserver-etcd-client with tls.crt and tls.key",
    ],
  ])("%s", (_, fields, reason) => {
    const result = plan(observed(three, fields), now);
    expect(result).toMatchObject({ steps: [], events: [], wait: { for: reason, until: now + 15_000 } });
  });

  test("while it is paused, and keeps its status", () => {
    const paused = control({ metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } });
    const result = plan(observed([], { control: paused }), now);
    expect([result.steps, result.wait]).toEqual([[], { for: "unpausing" }]);
    expect(result.status.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual(["Paused True"]);
  });
});

describe("the order of a KubeadmControlPlane's work", () => {
  const bare = { metadata: { finalizers: [] } };
  test.each<[string, Observed, string[]]>([
    [
      "begins with its finalizer, also where it could do nothing else",
      observed([], { control: control(bare), cluster: undefined }),
      ["patch"],
    ],
    [
      "writes a kubeconfig that expires in less than half a year",
      observed(three, { kubeconfig: { exists: true, expires: now + 182.5 * day - 1 } }),
      ["write-kubeconfig"],
    ],
    ["leaves one that does not", observed(three, { kubeconfig: { exists: true, expires: now + 182.5 * day } }), []],
    [
      "continues with the next machine once the one that failed is being replaced",
      observed([...three.slice(0, 2), owned("c", { failed: true })], {
        control: control({
          metadata: {
            annotations: {
              "controlplane.cluster.x-k8s.io/remediation-in-progress": JSON.stringify({
                machine: "z",
                timestamp: at(now),
                retryCount: 0,
              }),
            },
          },
          spec: { replicas: 4 },
        }),
      }),
      ["create"],
    ],
    [
      "ends with the images of kubeadm's add-ons",
      {
        ...observed(three),
        workload: {
          ...observed(three).workload,
          addons: { kubeProxy: "r/kube-proxy:v1.33.0" },
        } as Observed["workload"],
      },
      ["set-addon-image"],
    ],
  ])("%s", (_, given, expected) => expect(types(given)).toEqual(expected));

  const withProxy = (machines: readonly OwnedMachine[], fields: Partial<Observed> = {}) => {
    const base = observed(machines, fields);
    return {
      ...base,
      workload: { ...base.workload, addons: { kubeProxy: "r/kube-proxy:v1.33.0" } } as Observed["workload"],
    };
  };
  test.each<[string, Observed]>([
    ["a machine is missing", withProxy(three.slice(0, 2))],
    ["a machine is outdated", withProxy(outdatedOnes)],
    ["a machine is being deleted", withProxy([...three.slice(0, 2), owned("c", { deleting: "DrainingNode" })])],
    ["it is too large", withProxy([...three, owned("d")])],
    [
      "it is not initialized",
      withProxy(three.slice(0, 1), { control: control({ initialized: false, spec: { replicas: 1 } }) }),
    ],
  ])("does not change add-ons while %s", (_, given) => expect(types(given)).not.toContain("set-addon-image"));

  test("the default is one replica", () => {
    const { replicas: _none, ...spec } = control().spec;
    expect(types(withProxy(three.slice(0, 1), { control: { ...control(), spec } }))).toEqual(["set-addon-image"]);
  });

  test("says why a machine that failed is not replaced in its condition, too", () => {
    const result = plan(observed([owned("a", { failed: true })], { control: control({ spec: { replicas: 1 } }) }), now);
    const reason = "The control plane has one machine only, without which it does not serve";
    expect(result.wait?.for).toBe(reason);
    expect(result.status.conditions?.find(({ type }) => type === "Remediating")?.message).toBe(
      `Machine a is not healthy: ${reason}`,
    );
  });
});

describe("the upkeep of a KubeadmControlPlane", () => {
  const patch = (name: string, body: object) => ({ type: "patch", key: { namespace: "default", name }, body });
  const bodies = (given: Observed) =>
    plan(given, now).steps.map((step) => (step.type === "patch" ? patch(step.key.name, step.body) : step.type));
  const one = (given: MachineGiven = {}) => owned("a", { born: now - day, ...given });
  const alone = (machine: OwnedMachine, fields: Parameters<typeof observed>[1] = {}) =>
    observed([machine], { control: control({ spec: { replicas: 1 } }), ...fields });
  const changed = (change: (machine: Machine) => object, given: MachineGiven = {}): OwnedMachine => {
    const made = one(given);
    return { ...made, machine: { ...made.machine, ...change(made.machine) } };
  };
  const { infrastructure } = observed(three);
  const bareTemplate = {
    ...infrastructure,
    object: {
      ...infrastructure.object,
      metadata: { name: "control", namespace: "default", uid: "uid-t" },
    } as NonNullable<typeof infrastructure.object>,
  };

  test("adopts the template of its machines for the Cluster", () => {
    const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "uid-demo" };
    const labels = { "cluster.x-k8s.io/cluster-name": "demo" };
    expect(bodies(observed(three, { infrastructure: bareTemplate }))).toEqual([
      patch("control", { metadata: { uid: "uid-t", labels, ownerReferences: [owner] } }),
    ]);
    const metadata = { ...bareTemplate.object.metadata, ...gone };
    const leaving = { ...bareTemplate, object: { ...bareTemplate.object, metadata } };
    expect(bodies(observed(three, { infrastructure: leaving }))).toEqual([]);
  });

  test("changes labels, annotations and some fields of its machines in place, and only what differs", () => {
    const machineTemplate = {
      ...control().spec.machineTemplate,
      metadata: { labels: { team: "a" }, annotations: { note: "x" } },
      spec: { ...control().spec.machineTemplate.spec, deletion: { nodeDrainTimeoutSeconds: 5 } },
    };
    const wanted = control({ spec: { replicas: 1, machineTemplate } });
    expect(bodies(alone(one(), { control: wanted }))).toEqual([
      patch("a", {
        metadata: { uid: "uid-a", labels: { team: "a" }, annotations: { note: "x" } },
        spec: { deletion: { nodeDrainTimeoutSeconds: 5 } },
      }),
    ]);
    const machine = changed(({ metadata, spec }) => ({
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, team: "a" },
        annotations: { ...metadata.annotations, note: "x" },
      },
      spec: { ...spec, deletion: { nodeDrainTimeoutSeconds: 5 } },
    }));
    expect(bodies(alone(machine, { control: wanted }))).toEqual([]);
    const notes = changed(({ metadata, spec }) => ({
      metadata: { ...metadata, labels: { ...metadata.labels, team: "a" } },
      spec: { ...spec, deletion: { nodeDrainTimeoutSeconds: 5 } },
    }));
    expect(bodies(alone(notes, { control: wanted }))).toEqual([
      patch("a", { metadata: { uid: "uid-a", annotations: { note: "x" } } }),
    ]);
  });

  test("removes fields that its template has no more", () => {
    const machine = changed(({ spec }) => ({
      spec: { ...spec, deletion: { nodeDrainTimeoutSeconds: 5 }, taints: [{ key: "a" }], readinessGates: [] },
    }));
    const gates = one().machine.spec.readinessGates;
    expect(bodies(alone(machine))).toEqual([
      patch("a", { metadata: { uid: "uid-a" }, spec: { deletion: null, readinessGates: gates, taints: null } }),
    ]);
  });

  test("notes when the certificates of a machine's Node expire", () => {
    const base = alone(one());
    const expiries = new Map([["a", now + 30 * day]]);
    const note = { "machine.cluster.x-k8s.io/certificates-expiry": "2026-01-31T00:00:00Z" };
    expect(bodies({ ...base, workload: { ...base.workload, expiries } as Observed["workload"] })).toEqual([
      patch("a", { metadata: { uid: "uid-a", annotations: note } }),
    ]);
    const noted = alone(one({ annotations: note }));
    expect(bodies({ ...noted, workload: { ...noted.workload, expiries } as Observed["workload"] })).toEqual([]);
    const other = new Map([["b", now]]);
    expect(bodies({ ...base, workload: { ...base.workload, expiries: other } as Observed["workload"] })).toEqual([]);
    expect(bodies({ ...base, workload: { reach: "unreachable" } })).toEqual([]);
  });

  const unborn = (more: Partial<OwnedMachine> = {}) => {
    const made = changed(({ status }) => ({ status: { ...status, initialization: {} } }));
    return {
      ...made,
      config: { ...made.config, object: undefined } as OwnedMachine["config"],
      host: { ...made.host, object: undefined },
      ...more,
    } as OwnedMachine;
  };
  const creations = (given: Observed) =>
    plan(given, now).steps.flatMap((step) =>
      step.type === "create" ? [`${step.resource.kind} ${step.object.metadata.name}`] : [],
    );
  const neither = { configs: new Set<string>(), infrastructure: { ...infrastructure, clones: new Set<string>() } };
  test.each<[string, Observed, string[]]>([
    ["lacks both", alone(unborn(), neither), ["KubeadmConfig a", "OpenStackMachine a"]],
    ["has a configuration", alone(unborn({ config: one().config }), neither), ["OpenStackMachine a"]],
    ["has a host", alone(unborn({ host: one().host }), neither), ["KubeadmConfig a"]],
    ["has them under its name, without a reference", alone(unborn()), []],
    ["has had its host before", alone({ ...unborn(), machine: one().machine }, neither), []],
    [
      "has a kind of configuration that no provider serves",
      alone(unborn(), { ...neither, configKind: undefined }),
      ["OpenStackMachine a"],
    ],
    [
      "has a kind of host that no provider serves",
      alone(unborn(), { ...neither, infrastructure: { ...neither.infrastructure, cloneKind: undefined } }),
      ["KubeadmConfig a"],
    ],
    [
      "is being deleted",
      alone(
        { ...unborn(), machine: { ...unborn().machine, metadata: { ...unborn().machine.metadata, ...gone } } },
        neither,
      ),
      [],
    ],
  ])("creates the objects of a machine that %s", (_, given, expected) => expect(creations(given)).toEqual(expected));

  test("creates the configuration of the machine that initialises the cluster, and of those that join it", () => {
    const kubeadmConfigSpec = { initConfiguration: { skipPhases: ["a"] } };
    const specOf = (initialized: boolean) => {
      const own = control({ initialized, spec: { replicas: 1, kubeadmConfigSpec } });
      const step = plan(alone(unborn(), { ...neither, control: own }), now).steps.find(({ type }) => type === "create");
      return (step as { object?: { spec?: object } } | undefined)?.object?.spec;
    };
    expect(specOf(false)).toEqual({ initConfiguration: { skipPhases: ["a"] } });
    expect(specOf(true)).toEqual({ joinConfiguration: { controlPlane: {} } });
  });

  const sick = { members: [member("a", { problem: "down" })] };
  test("reports what a machine's parts do in its conditions, and leaves those of others", () => {
    const machine = changed(({ status }) => ({
      status: { ...status, conditions: [...(status?.conditions ?? []), condition("Drained")] },
    }));
    const [step] = plan(alone(machine, sick), now).steps;
    if (step?.type !== "set-conditions") throw new Error("no conditions are set");
    expect(step.machine.metadata.name).toBe("a");
    expect(step.conditions.map(({ type, status }) => `${type} ${status}`)).toEqual([
      "UpToDate True",
      "APIServerPodHealthy True",
      "ControllerManagerPodHealthy True",
      "SchedulerPodHealthy True",
      "EtcdPodHealthy True",
      "EtcdMemberHealthy False",
    ]);
  });

  test.each<[string, object, string[]]>([
    ["another message", { message: "up" }, ["set-conditions"]],
    ["another reason", { reason: "Sick" }, ["set-conditions"]],
    ["another status", { status: "Unknown" }, ["set-conditions"]],
    ["nothing new", {}, []],
  ])("writes conditions of a machine where there is %s", (_, field, expected) => {
    const seen = { status: "False", reason: "NotHealthy", message: "down", ...field };
    const machine = changed(({ status }) => ({
      status: {
        ...status,
        conditions: status?.conditions?.map((c) => (c.type === "EtcdMemberHealthy" ? { ...c, ...seen } : c)),
      },
    }));
    expect(types(alone(machine, sick))).toEqual(expected);
  });

  test("reports on machines that are being deleted, too, but changes nothing else of them", () => {
    const leaving = changed(({ metadata }) => ({ metadata: { ...metadata, labels: {} } }), {
      deleting: "DrainingNode",
    });
    const members = [member("a", { problem: "down" }), ...["b", "c"].map((name) => member(name))];
    const given = observed([leaving, ...three.slice(1)], { members });
    expect(types(given)).toEqual(["set-conditions"]);
  });
});

describe("the deletion of a KubeadmControlPlane", () => {
  const leaving = (more: Partial<Observed> = {}, machines: readonly OwnedMachine[] = []) =>
    plan(observed(machines, { control: control({ metadata: gone }), ...more }), now);
  test("removes its finalizer when no machine is left", () => {
    expect(leaving().steps).toMatchObject([
      { type: "patch", key: { name: "control" }, body: { metadata: { finalizers: [] } } },
    ]);
  });
  test("waits for workers, and says how many", () => {
    expect(leaving({ workers: 1 })).toMatchObject({
      steps: [],
      wait: { for: "1 workers are left", until: now + 15_000 },
    });
  });
  test("waits for machines that are being deleted and released", () => {
    const machine = owned("a", { deleting: "DrainingNode" });
    const { annotations: _hook, ...metadata } = machine.machine.metadata;
    const released = { ...machine, machine: { ...machine.machine, metadata } };
    expect(leaving({}, [released])).toMatchObject({
      steps: [],
      wait: { for: "1 Machines are being deleted", until: now + 15_000 },
    });
    expect(leaving({}, [machine])).toMatchObject({ steps: [{ type: "patch" }], wait: { until: now + 60_000 } });
  });
  test("needs no Cluster", () => {
    expect(leaving({ cluster: undefined }).steps).toHaveLength(1);
    expect(leaving({ cluster: cluster({ spec: { paused: true } }) }).steps).toEqual([]);
  });
});
