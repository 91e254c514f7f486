import { describe, expect, it } from "vitest";
import { nodeMetadataApplied, nodeMetadataOf, type HostedControlPlane, type OpenStackCluster } from "@causeway/api";
import { desiredManifests, nothingStands, type Installation } from "./desired.ts";
import type { Observed } from "./gather.ts";
import { at, clusterOf, group, keystone, NOW, settled, type Given } from "../testing/observed.ts";
import { magnumLabels, migratingAnnotation, pendingAnnotation } from "./names.ts";
import { decide } from "./plan-desired.ts";
import { plan } from "./plan.ts";
import { timestamp } from "@causeway/kubernetes";

const without = (kind: string, observed = settled()): Observed => ({
  ...observed,
  standing: observed.standing.filter((one) => one.kind !== kind),
});
const created = { created: true, status: "CREATE_COMPLETE", observedGeneration: 2 };
const failing = (reason: string) => [
  {
    kind: "OpenStackMachine",
    metadata: { name: "m0", labels: { [magnumLabels.nodeGroup]: group.uuid } },
    status: { conditions: [{ type: "InstanceReady", status: "False", reason, message: "Quota exceeded (req-1)" }] },
  },
];
const unready = (observed: Observed, servers: unknown[] = []): Observed => ({
  ...observed,
  machines: [],
  servers: servers as Observed["servers"],
});
const migrated = (value: string, more: Given["metadata"] = {}): Observed =>
  without("Cluster", settled({ metadata: { ...more, annotations: { [migratingAnnotation]: value } } }));
const pending = (minutes: number): Observed =>
  settled({ metadata: { finalizers: [], creationTimestamp: at(-minutes), annotations: { [pendingAnnotation]: "" } } });
const three = { masterCount: 3, masterLBEnabled: true };
const pods = (ready: number) => ({ runtime: "Pods", readyReplicas: ready, upToDateReplicas: 3 });
const deleting = { metadata: { deletionTimestamp: at(-1) } };
const nothingLeft = { cluster: undefined, machines: [], servers: [], standing: [], deployments: [] };

describe("the plan of a Magnum cluster", () => {
  it("shows the version of the nodes' container runtime, without its name", () => {
    const observed = settled();
    const machines = observed.machines.map((machine) => ({
      ...machine,
      status: { ...machine.status, nodeInfo: { containerRuntimeVersion: "containerd://2.1.4" } },
    }));
    const { status } = plan({ ...observed, machines: machines as unknown as Observed["machines"] }, NOW);
    expect(status).toMatchObject({ containerVersion: "2.1.4" });
    expect(plan(observed, NOW).status).not.toHaveProperty("containerVersion");
  });

  it.each<[string, Observed, string, string]>([
    [
      "adds its finalizer before anything is made",
      settled({ metadata: { finalizers: [] } }),
      "add-finalizer",
      "CREATE_IN_PROGRESS",
    ],
    ["makes nothing of a row whose create is under way", pending(1), "", "CREATE_IN_PROGRESS"],
    ["deletes a row whose create did not end", pending(3), "discard-row", "CREATE_IN_PROGRESS"],
    ["completes a create when all masters are ready", settled({ spec: three }, pods(3)), "", "CREATE_COMPLETE"],
    [
      "does not complete a create before all masters are ready",
      settled({ spec: three }, pods(2)),
      "",
      "CREATE_IN_PROGRESS",
    ],
    [
      "completes a create with one API server where the runtime has no more",
      settled({ spec: three }, { runtime: "Process" }),
      "",
      "CREATE_COMPLETE",
    ],
    ["writes nothing without credentials", { ...without("Cluster"), hasCredentials: false }, "", "CREATE_FAILED"],
    ["applies what is missing", without("Cluster"), "apply Cluster", "CREATE_IN_PROGRESS"],
    ["completes a create when all is there and ready", settled(), "", "CREATE_COMPLETE"],
    ["does not complete a create before its nodes are ready", unready(settled()), "", "CREATE_IN_PROGRESS"],
    [
      "fails for a cause that does not pass by itself",
      unready(settled(), failing("QuotaExceeded")),
      "",
      "CREATE_FAILED",
    ],
    [
      "fails when its time is over",
      unready(settled({ metadata: { creationTimestamp: at(-61) } })),
      "",
      "CREATE_FAILED",
    ],
    [
      "becomes complete when the cause is gone",
      settled({ status: { status: "CREATE_FAILED", observedGeneration: 2 } }),
      "",
      "CREATE_COMPLETE",
    ],
    [
      "is in progress after a change, until that is done",
      unready(settled({ status: { ...created, observedGeneration: 1 } })),
      "",
      "UPDATE_IN_PROGRESS",
    ],
    [
      "is in progress while its certificate authority is rotated",
      settled({ spec: { rotateAuthoritiesAfter: at(-2) }, status: { ...created, observedGeneration: 1 } }),
      "",
      "UPDATE_IN_PROGRESS",
    ],
    [
      "completes the rotation of its certificate authority",
      settled(
        { spec: { rotateAuthoritiesAfter: at(-2) }, status: { ...created, observedGeneration: 1 } },
        { authorities: { phase: "Current", rotation: at(-2), rotatedAt: at(-1_000) } },
      ),
      "",
      "UPDATE_COMPLETE",
    ],
    [
      "has each node group replaced for a rotation",
      without(
        "MachineDeployment",
        settled(
          { spec: { rotateAuthoritiesAfter: at(-2) }, status: { ...created, observedGeneration: 1 } },
          { authorities: { phase: "Prepared", rotation: at(-2), rotatedAt: at(-1) } },
        ),
      ),
      "apply MachineDeployment",
      "UPDATE_IN_PROGRESS",
    ],
    ["completes a change", settled({ status: { ...created, observedGeneration: 1 } }), "", "UPDATE_COMPLETE"],
    ["remains complete when a node breaks later", unready(settled({ status: created })), "", "CREATE_COMPLETE"],
    ["changes nothing while it is migrated", migrated(`import Running ${at(-39)}`), "", "UPDATE_IN_PROGRESS"],
    ["is complete between two phases of a migration", migrated(`switch Done ${at(-9_000)}`), "", "UPDATE_COMPLETE"],
    ["has failed when a phase of its migration failed", migrated(`switch Failed ${at(-1)}`), "", "UPDATE_FAILED"],
    [
      "has failed when a phase was killed and not run again",
      migrated(`switch Running ${at(-41)}`),
      "",
      "UPDATE_FAILED",
    ],
    ["is not deleted while it is migrated", migrated(`roll Done ${at(-1)}`, deleting.metadata), "", "UPDATE_COMPLETE"],
    ["is deleted by its Cluster", settled(deleting), "delete-cluster", "DELETE_IN_PROGRESS"],
    [
      "waits for machines after the Cluster is gone",
      { ...settled(deleting), cluster: undefined },
      "",
      "DELETE_IN_PROGRESS",
    ],
    [
      "revokes its credential last, and then goes",
      { ...settled(deleting), ...nothingLeft },
      "revoke-credential remove-finalizer",
      "DELETE_IN_PROGRESS",
    ],
    [
      "has failed to be deleted after half an hour",
      settled({ metadata: { deletionTimestamp: at(-31) } }),
      "delete-cluster",
      "DELETE_FAILED",
    ],
  ])("%s", (_, observed, steps, status) => {
    const found = plan(observed, NOW);
    const words = found.steps.map((step) => (step.type === "apply" ? `apply ${step.manifest.object.kind}` : step.type));
    expect(`${words.join(" ")} → ${found.status.status}`).toBe(`${steps} → ${status}`);
  });

  it("names the cause, its code and the request in the reason", () => {
    const { status } = plan(unready(settled(), failing("QuotaExceeded")), NOW);
    expect(status).toMatchObject({
      code: "QuotaExceeded",
      reason: expect.stringContaining("Quota exceeded (req-1)") as string,
    });
  });

  it("has as many API servers as masters with runtime Pods, and says where it has one", () => {
    const replicas = (observed: Observed) =>
      decide(observed).desired.find(({ object }) => object.kind === "HostedControlPlane")?.object as HostedControlPlane;
    expect(replicas(settled({ spec: three }, pods(3))).spec).toMatchObject({ runtime: "Pods", replicas: 3 });
    const one = settled({ spec: three }, { runtime: "Embedded" });
    expect(replicas(one).spec).not.toHaveProperty("replicas");
    expect(plan(one, NOW).status.reason).toBe(
      "CREATE completed successfully. master_count=3 has no effect: a control plane with runtime Embedded has one API server",
    );
    expect(plan(settled({ spec: three }, pods(2)), NOW).status.reason).toContain("2 of 3 masters are ready");
  });

  it("names the attributes of its template that have no effect", () => {
    const template = { coe: "kubernetes", imageID: "cirros", networkDriver: "calico", serverType: "vm", noProxy: "a" };
    expect(plan(settled({ spec: { template } }), NOW).status.reason).toBe(
      "CREATE completed successfully. network_driver=calico has no effect: the cluster keeps the network of pods that it has. Attributes without effect: no_proxy",
    );
  });

  it.each<[string, number | undefined, string, string]>([
    [
      "reports an upgrade that replaced a node 10 minutes ago as in progress after 3 hours",
      3,
      at(-10),
      "UPDATE_IN_PROGRESS",
    ],
    [
      "reports an upgrade that replaces a node now as in progress after hours without one",
      4,
      at(-90),
      "UPDATE_IN_PROGRESS",
    ],
    ["reports an upgrade that replaced no node for an hour as failed", 3, at(-61), "UPDATE_FAILED"],
    ["counts no progress by nodes that fail and come back", 2, at(-61), "UPDATE_FAILED"],
    [
      "judges a change that began 3 hours ago and was never reconciled from now on",
      undefined,
      at(-61),
      "UPDATE_IN_PROGRESS",
    ],
  ])("%s", (_, remaining, since, status) => {
    const progress = { at: since, ...(remaining === undefined ? {} : { stage: 4, remaining }) };
    const before = { ...created, status: "UPDATE_IN_PROGRESS", changingSince: at(-180), progress };
    const observed = settled({ spec: { nodeGroups: [{ ...group, nodeCount: 5 }] }, status: before });
    const rolling = { replicas: 5, readyReplicas: 5, upToDateReplicas: 2, observedGeneration: 1 };
    const deployments = observed.deployments.map((one) => ({ ...one, status: rolling }) as unknown as typeof one);
    const found = plan({ ...observed, deployments }, NOW).status;
    expect(found.status).toBe(status);
    const isBetter = remaining === undefined || remaining > 3;
    expect(found.progress).toEqual(isBetter ? { stage: 4, remaining: 3, at: timestamp(NOW) } : progress);
  });

  it.each<[string, object, number, string]>([
    ["nodes of an earlier content are there", { upToDateReplicas: 1 }, 2, "2 of 2 nodes are ready, 1 of 2 are updated"],
    [
      "one more is there while they are replaced",
      { replicas: 3, upToDateReplicas: 1 },
      3,
      "2 of 2 nodes are ready, 1 of 2 are updated, 1 more is to go",
    ],
    ["all are of the wanted content", { readyReplicas: 1, upToDateReplicas: 2 }, 2, "2 of 2 nodes are ready"],
    ["the MachineDeployment does not know yet", { observedGeneration: 0 }, 2, "2 of 2 nodes are ready"],
  ])("says how many nodes are updated where %s", (_, status, count, reason) => {
    const observed = settled({ spec: { nodeGroups: [{ ...group, nodeCount: 2 }] }, status: created });
    const numbers = { replicas: 2, readyReplicas: 2, upToDateReplicas: 0, observedGeneration: 1, ...status };
    const deployments = observed.deployments.map((one) => ({ ...one, status: numbers }) as unknown as typeof one);
    const machines = Array.from({ length: count }, (_, at) =>
      observed.machines.map((one) => ({
        ...one,
        metadata: { ...one.metadata, name: `m${at}` },
        status: { conditions: [...(one.status?.conditions ?? []), { type: "UpToDate", status: "True" }] },
      })),
    ).flat() as unknown as typeof observed.machines;
    const change = { ...created, observedGeneration: 1, status: "UPDATE_IN_PROGRESS", changingSince: at(-1) };
    const object = { ...observed.object, status: change } as unknown as typeof observed.object;
    expect(plan({ ...observed, object, deployments, machines }, NOW).status).toMatchObject({
      status: "UPDATE_IN_PROGRESS",
      reason: `default-worker: ${reason}`,
    });
  });

  it("counts the time of another change from its own beginning", () => {
    const progress = { stage: 4, remaining: 1, at: at(-300) };
    const before = { ...created, observedGeneration: 1, status: "UPDATE_FAILED", changingSince: at(-300), progress };
    const { status, wait } = plan(unready(settled({ status: before })), NOW);
    expect(status).toMatchObject({ status: "UPDATE_IN_PROGRESS", progress: { at: timestamp(NOW) } });
    expect(wait?.until).toBe(NOW + 60 * 60_000);
  });

  it("does not count a change before the MachineDeployments know of it", () => {
    const observed = settled({ status: { ...created, observedGeneration: 1 } });
    const stale = observed.deployments.map((one) => ({ ...one, metadata: { ...one.metadata, generation: 2 } }));
    const { status } = plan({ ...observed, deployments: stale }, NOW);
    expect(status).toMatchObject({ status: "UPDATE_IN_PROGRESS", progress: { at: timestamp(NOW) } });
    expect(status.progress).not.toHaveProperty("remaining");
  });

  it("has the flags of its labels where the runtime has programs, and says where they have no effect", () => {
    const labels = { kubeapi_options: "--event-ttl=30m", kubecontroller_options: "--node-monitor-grace-period=20s" };
    const flags = { apiServer: { eventTTLSeconds: 1_800 }, controllerManager: { nodeMonitorGracePeriodSeconds: 20 } };
    const specOf = (runtime?: string) =>
      decide(settled({ spec: { labels } }, runtime === undefined ? {} : { runtime })).desired.find(
        ({ object }) => object.kind === "HostedControlPlane",
      )?.object as HostedControlPlane;
    for (const runtime of ["Process", "Pods"]) expect(specOf(runtime).spec).toMatchObject({ flags });
    for (const runtime of ["Embedded", undefined]) expect(specOf(runtime).spec).not.toHaveProperty("flags");
    const reason = (runtime: string) => plan(settled({ spec: { labels } }, { runtime }), NOW).status.reason;
    expect(reason("Embedded")).toBe(
      "CREATE completed successfully. kubeapi_options, kubecontroller_options without effect: a control plane with runtime Embedded has no programs with flags",
    );
    expect(reason("Process")).toBe("CREATE completed successfully");
  });

  it.each<[string | undefined, string | undefined, object]>([
    [undefined, undefined, {}],
    ["Process", undefined, { runtime: "Process" }],
    ["Pods", undefined, { runtime: "Pods", replicas: 3 }],
    // What a control plane has remains.
    ["Process", "Embedded", { runtime: "Embedded" }],
    [undefined, "Embedded", {}],
    [undefined, "Pods", { runtime: "Pods", replicas: 3 }],
  ])(
    "gives on an installation with runtime %s a control plane with %s the API servers %j",
    (runtime, has, expected) => {
      const labels = { kubeapi_options: "--event-ttl=30m" };
      const installation = { ...keystone, ...(runtime === undefined ? {} : { runtime }) } as Installation;
      const controlPlane =
        has === undefined ? undefined : ({ spec: {}, status: { runtime: has } } as HostedControlPlane);
      const spec = desiredManifests(clusterOf({ spec: { ...three, labels } }), installation, {
        ...nothingStands,
        controlPlane,
      })
        .map(({ object }) => object as HostedControlPlane)
        .find(({ kind }) => kind === "HostedControlPlane")?.spec;
      const { runtime: chosen, replicas } = spec ?? {};
      expect({ ...(chosen && { runtime: chosen }), ...(replicas && { replicas }) }).toEqual(expected);
      expect(spec?.flags !== undefined).toBe(["Process", "Pods"].includes(chosen ?? ""));
    },
  );

  it("lets an access list have the user's networks, the operator's, the nodes' and their router's, and no other runtime", () => {
    const labels = { master_lb_allowed_cidrs: "203.0.113.0/24, 198.51.100.7/32" };
    const object = clusterOf({ spec: { labels } });
    const infrastructure = { status: { router: { ips: ["192.0.2.9", "2001:db8::9"] } } } as unknown as OpenStackCluster;
    const installation = { ...keystone, managementCidrs: ["10.9.0.0/16"] };
    const specOf = (standing: object) =>
      desiredManifests(object, installation, { ...nothingStands, ...standing })
        .map(({ object: one }) => one as HostedControlPlane)
        .find(({ kind }) => kind === "HostedControlPlane")?.spec;
    const before = ["10.0.0.0/24", "10.9.0.0/16", "198.51.100.7/32", "203.0.113.0/24"];
    expect(specOf({})).toMatchObject({ runtime: "Pods", endpoint: { allowedCIDRs: before } });
    expect(specOf({ infrastructure })?.endpoint?.allowedCIDRs).toEqual(
      [...before, "192.0.2.9/32", "2001:db8::9/128"].toSorted(),
    );
  });

  it("is complete once its nodes have the labels and taints of their group, as they are now", () => {
    const nodeGroups = [
      {
        ...group,
        joinLabels: {},
        nodeLabels: { p: "1" },
        nodeTaints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }],
      },
    ];
    const observed = settled({ spec: { nodeGroups }, status: { ...created, observedGeneration: 1 } });
    const { template } = observed.deployments[0]?.spec ?? {};
    const having = (message: string | undefined): Observed => {
      const machines = observed.machines.map((machine) => ({
        ...machine,
        metadata: { ...machine.metadata, annotations: template?.metadata?.annotations },
        spec: { ...machine.spec, taints: template?.spec.taints },
        status: {
          ...machine.status,
          conditions: [
            ...(machine.status?.conditions ?? []),
            ...(message === undefined ? [] : [{ type: nodeMetadataApplied, status: "True", message }]),
          ],
        },
      }));
      return { ...observed, machines: machines as unknown as Observed["machines"] };
    };
    const reason = "default-worker: 1 of 1 nodes are ready, labels and taints of 1 are to be set";
    const pending = { status: "UPDATE_IN_PROGRESS", reason };
    expect(plan(observed, NOW).status).toMatchObject(pending);
    expect(plan(having(undefined), NOW).status).toMatchObject(pending);
    expect(plan(having("labels and taints of before"), NOW).status).toMatchObject(pending);
    const [machine] = having(undefined).machines;
    expect(plan(having(machine && nodeMetadataOf(machine)), NOW).status.status).toBe("UPDATE_COMPLETE");
  });

  it("says what a phase of its migration waits for, without the management cluster", () => {
    const waiting = `roll Running ${at(-1)} Machine magnum-p/web-1, whose API at https://10.20.0.7:6443 does not respond`;
    expect(plan(migrated(waiting), NOW).status.reason).toBe(
      "Phase roll of the migration from Heat runs. It waits for Machine web-1, whose API at (address) does not respond",
    );
  });

  it("names several causes of a deletion that does not end, and what is left in its user's words", () => {
    const observed = settled({ metadata: { deletionTimestamp: at(-31) } });
    const conditionOf = (reason: string, message: string) => ({ type: "Ready", status: "False", reason, message });
    const servers = Array.from({ length: 12 }, (_, index) => ({
      kind: "OpenStackMachine",
      metadata: { name: `s${index}` },
      status: { conditions: [conditionOf("InstanceStateError", `error ${index}`)] },
    }));
    const blocked = "Load balancers are still on the cluster's subnet: kube_service_a (1). Delete their Services";
    const infrastructure = {
      ...observed.infrastructure,
      status: { conditions: [conditionOf("DeletionBlocked", blocked)] },
    };
    const given = { ...observed, machines: [], servers: servers.slice(0, 2), infrastructure } as unknown as Observed;
    const { status } = plan(given, NOW);
    expect(status).toMatchObject({ status: "DELETE_FAILED", code: "InstanceStateError" });
    expect(status.reason?.split("; ")).toEqual([
      "server s0: error 0 (InstanceStateError)",
      "server s1: error 1 (InstanceStateError)",
      `network: ${blocked} (DeletionBlocked)`,
      "still to be deleted: 2 servers s0, s1, the network, the control plane",
    ]);
    const many = plan({ ...given, servers: servers as unknown as Observed["servers"] }, NOW).status.reason ?? "";
    expect(many).toContain("; and 8 more; still to be deleted: 12 servers s0, s1, ");
    expect(many).toContain("s9 and 2 more, the network");
  });

  it("marks exactly the machines to remove before their group becomes smaller", () => {
    const observed = settled({ spec: { nodeGroups: [{ ...group, nodeCount: 0, nodesToRemove: ["m0"] }] } });
    const { steps } = plan(without("MachineDeployment", observed), NOW);
    expect(steps.map(({ type }) => type)).toEqual(["mark-machine", "apply"]);
  });

  it("has unhealthy machines replaced where auto_healing_enabled is true, and no longer where it is not", () => {
    const healing = settled({ spec: { labels: { auto_healing_enabled: "True" } } });
    const [check] = decide(healing).desired.filter(({ object }) => object.kind === "MachineHealthCheck");
    expect(check?.object).toMatchObject({
      metadata: { name: "web-default", ownerReferences: [{ kind: "MagnumCluster" }] },
      spec: {
        clusterName: "web",
        selector: { matchLabels: { [magnumLabels.nodeGroup]: group.uuid } },
        remediation: { triggerIf: { unhealthyLessThanOrEqualTo: 1 } },
      },
    });
    expect(plan(healing, NOW).steps).toEqual([]);
    const steps = plan({ ...settled(), standing: healing.standing }, NOW).steps.map(({ type }) => type);
    expect(steps).toContain("delete-health-check");
  });
});
