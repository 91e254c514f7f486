import { annotations, labels, type MachineHealthCheck, type Kind } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import {
  gone,
  made,
  template,
  bootstrap,
  deployments,
  checks,
  upgrades,
  workers,
  pool,
  desired,
  owned,
  cluster,
  existing,
  holder,
  inTopology,
  deployment,
  machinePool,
  controlPlane,
  all,
  same,
  everything,
  differences,
  observed,
  shown,
  type Change,
} from "../testing/topology-observed.ts";
import { pendingHooksAnnotation } from "./hooks.ts";
import { idOf } from "./model.ts";
import { plan } from "./plan.ts";

const other = (kind: Kind<KubeObject>, name: string, metadata: object = {}) => existing(kind, name, metadata);
const waiting = { version: "v1.34.0", waitsForCreation: true } as const;
const atMachine = (name: string) => ({ ...desired.controlPlane, machineTemplate: made(template, name) });

const steps = (change: Change) => plan(observed(change)).steps.map(shown);

describe("the plan of a topology", () => {
  const rows: [string, Change, string[]][] = [
    ["does nothing when all is as the class says", {}, []],
    [
      "creates what is missing, each object after those that it refers to",
      { differences: new Map() },
      everything.map(({ kind, object }) => `create ${kind.kind} ${object.metadata.name}`),
    ],
    [
      "updates what has another spec or other metadata",
      {
        differences: differences({
          "OpenStackCluster web": { spec: true, metadata: false },
          "MachinePool web-p": { spec: false, metadata: true },
        }),
      },
      ["update OpenStackCluster web", "update MachinePool web-p"],
    ],
    [
      "creates no machine template and no health checks where the class has none",
      {
        differences: new Map(),
        desired: {
          controlPlane: { object: desired.controlPlane.object, machineTemplate: undefined, healthCheck: undefined },
          workers: [{ ...workers, healthCheck: undefined }],
          pools: [],
        },
        current: { healthChecks: [], pools: [] },
      },
      [
        "create OpenStackCluster web",
        "create KubeadmControlPlane web-cp",
        "create KubeadmConfigTemplate a-config",
        "create OpenStackMachineTemplate a-machine",
        "create MachineDeployment web-a",
      ],
    ],
    [
      "names its objects in the Cluster first",
      { cluster: cluster({}, { controlPlaneRef: undefined }), differences: new Map() },
      ["apply-cluster"],
    ],
    [
      "sets the labels of the Cluster",
      { cluster: cluster({ labels: { ...owned, [labels.topologyOwned]: "x" } }) },
      ["apply-cluster"],
    ],
    ["records defaults of variables in the Cluster", { desired: { variables: [] } }, ["set-variables"]],
    [
      "records where an upgrade is in the Cluster",
      { desired: { upgrades: { ...upgrades, controlPlaneMoves: true } } },
      ["apply-cluster"],
    ],
    [
      "does not record the step of an upgrade again",
      {
        cluster: cluster({ annotations: { [annotations.upgradeStep]: "v1.34.0" } }),
        desired: { upgrades: { ...upgrades, controlPlaneMoves: true } },
      },
      [],
    ],
    [
      "removes the step when the upgrade is done",
      { cluster: cluster({ annotations: { [annotations.upgradeStep]: "v1.34.0" } }) },
      ["apply-cluster"],
    ],
    [
      "rotates the template of the control plane's machines",
      {
        desired: { controlPlane: atMachine("cp-machine-2") },
        current: { controlPlane: controlPlane("cp-machine") },
      },
      ["rotate OpenStackMachineTemplate cp-machine-2 for cp-machine"],
    ],
    [
      "creates such a template where the one before is gone",
      { desired: { controlPlane: atMachine("cp-machine-2") }, current: { templates: all.templates.slice(1) } },
      ["create OpenStackMachineTemplate cp-machine-2"],
    ],
    [
      "creates the template of the first control plane",
      { desired: { controlPlane: atMachine("cp-machine-2") }, current: { controlPlane: undefined } },
      ["create OpenStackMachineTemplate cp-machine-2"],
    ],
    [
      "creates a template that was deleted, under its name",
      { differences: differences({ "OpenStackMachineTemplate a-machine": undefined }) },
      ["create OpenStackMachineTemplate a-machine"],
    ],
    [
      "rotates the templates of workers",
      {
        current: {
          deployments: [deployment("old-config", "old-machine")],
          templates: [...all.templates, other(bootstrap, "old-config"), other(template, "old-machine")],
        },
        differences: differences({
          "KubeadmConfigTemplate a-config": undefined,
          "OpenStackMachineTemplate a-machine": undefined,
          "MachineDeployment web-a": { spec: true, metadata: false },
        }),
      },
      [
        "rotate KubeadmConfigTemplate a-config for old-config",
        "rotate OpenStackMachineTemplate a-machine for old-machine",
        "update MachineDeployment web-a",
      ],
    ],
    [
      "creates no workers before the control plane is ready for them",
      {
        differences: new Map(everything.slice(0, 4).map(({ kind, object }) => [idOf(kind, object), same])),
        desired: { workers: [{ ...workers, decision: waiting }], pools: [{ ...pool, decision: waiting }] },
        current: { deployments: [], pools: [] },
      },
      [],
    ],
    [
      "waits for workers of the same name that are being deleted",
      {
        differences: new Map(everything.slice(0, 4).map(({ kind, object }) => [idOf(kind, object), same])),
        current: {
          deployments: [deployment("a-config", "a-machine", { ...inTopology, ...gone })],
          pools: [machinePool(gone)],
        },
      },
      [],
    ],
    [
      "deletes workers, pools and health checks that the topology no longer has",
      { desired: { workers: [], pools: [] } },
      [
        "delete MachineDeployment default/web-a uid-web-a",
        "delete MachinePool default/web-p uid-web-p",
        "delete MachineHealthCheck default/web-a uid-web-a",
      ],
    ],
    [
      "deletes workers of the topology that have no name in it",
      {
        current: {
          deployments: [deployment(), holder(deployments, "stray", ["a-config", "a-machine"])],
          pools: [machinePool(), machinePool({ name: "stray", labels: {} })],
        },
      },
      ["delete MachineDeployment default/stray uid-stray", "delete MachinePool default/stray uid-web-p"],
    ],
    [
      "deletes nothing that is being deleted",
      {
        desired: { workers: [], pools: [] },
        current: {
          deployments: [deployment("a-config", "a-machine", { ...inTopology, ...gone })],
          pools: [machinePool(gone)],
          healthChecks: [existing(checks, "web-a", gone).object as MachineHealthCheck],
        },
      },
      [],
    ],
    [
      "deletes its templates and pool objects that nothing refers to any more",
      {
        current: {
          templates: [...all.templates, other(template, "left"), other(bootstrap, "cp-machine")],
          poolObjects: [...all.poolObjects, other(bootstrap, "left")],
        },
      },
      [
        "delete OpenStackMachineTemplate default/left uid-left",
        "delete KubeadmConfigTemplate default/cp-machine uid-cp-machine",
        "delete KubeadmConfigTemplate default/left uid-left",
      ],
    ],
    [
      "leaves templates that are another Cluster's, without an owner, or being deleted",
      {
        current: {
          templates: [
            other(template, "theirs", {
              ownerReferences: [{ apiVersion: "v1", kind: "Cluster", name: "web", uid: "x" }],
            }),
            other(template, "free", { ownerReferences: undefined }),
            other(template, "leaving", gone),
          ],
        },
      },
      [],
    ],
    [
      "keeps templates that MachineSets, or a control plane that is being rolled out, refer to",
      {
        current: {
          controlPlane: controlPlane("old-machine"),
          sets: [holder(deployments, "set", ["set-config", "set-machine"])],
          templates: [
            ...all.templates,
            other(template, "old-machine"),
            other(bootstrap, "set-config"),
            other(template, "set-machine"),
          ],
        },
      },
      [],
    ],
    [
      "keeps templates that the next control plane and workers will refer to, and deletes no other before they do",
      {
        desired: { workers: [], pools: [pool] },
        current: { deployments: [], healthChecks: [], controlPlane: undefined, sets: [] },
      },
      [
        "delete KubeadmConfigTemplate default/a-config uid-a-config",
        "delete OpenStackMachineTemplate default/a-machine uid-a-machine",
      ],
    ],
    [
      "deletes no orphan while something else is to be done",
      {
        differences: differences({ "OpenStackCluster web": { spec: true, metadata: false } }),
        current: { templates: [...all.templates, other(template, "left")] },
      },
      ["update OpenStackCluster web"],
    ],
    [
      "does nothing while an obstacle is there",
      { differences: new Map(), obstacle: { reason: "ReconcileFailed", message: "m" } },
      [],
    ],
    ["does nothing for a Cluster that is being deleted", { differences: new Map(), cluster: cluster(gone) }, []],
    ["does nothing for a paused Cluster", { differences: new Map(), cluster: cluster({}, { paused: true }) }, []],
    [
      "does nothing for a Cluster with the annotation paused",
      { differences: new Map(), cluster: cluster({ annotations: { [annotations.paused]: "" } }) },
      [],
    ],
    [
      "records hooks before anything else",
      { differences: new Map(), hooks: { add: ["AfterClusterUpgrade"] } },
      ["set-hooks"],
    ],
    [
      "records hooks of a Cluster that is being deleted",
      { cluster: cluster(gone), hooks: { okToDelete: true } },
      ["set-hooks"],
    ],
    [
      "records no hooks of a paused Cluster",
      { cluster: cluster({}, { paused: true }), hooks: { add: ["AfterClusterUpgrade"], okToDelete: true } },
      [],
    ],
    [
      "records no hooks again",
      {
        cluster: cluster({ annotations: { [pendingHooksAnnotation]: "AfterClusterUpgrade" } }),
        hooks: { add: ["AfterClusterUpgrade"] },
      },
      [],
    ],
  ];
  test.each(rows)("%s", (_, change, expected) => expect(steps(change)).toEqual(expected));
});
