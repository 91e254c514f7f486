/** The state of each node group, which is that of its own machines. */
import { describe, expect, it } from "vitest";
import type { HostedControlPlane, MachineDeployment, MagnumClusterStatus, OpenStackCluster } from "@causeway/api";
import { at, group, NOW, settled } from "../testing/observed.ts";
import type { Observed } from "./gather.ts";
import { magnumLabels } from "./names.ts";
import { decide } from "./plan-desired.ts";
import { deletionVerdict, groupVerdict, mastersVerdict } from "./plan-groups.ts";
import { plan } from "./plan.ts";
import { poolsOf } from "./pools.ts";

const other = { ...group, uuid: "6e8ae3a5-0b4c-4f0e-9d26-0000000000b3", name: "other", isDefault: false };
const both = { spec: { nodeGroups: [group, other] } };
const late = { metadata: { creationTimestamp: at(-61) } };

/** Without machines, and with a server of the group that has the condition. */
function withServer(observed: Observed, reason: string, labels: object = { [magnumLabels.nodeGroup]: group.uuid }) {
  const conditions = [{ type: "InstanceReady", status: "False", reason, message: "Quota exceeded (req-1)" }];
  const server = { kind: "OpenStackMachine", metadata: { name: "s0", labels }, status: { conditions } };
  return { ...observed, machines: [], servers: [server] as unknown as Observed["servers"] };
}

const unready = (observed: Observed): Observed => ({ ...observed, machines: [] });
const groupsOf = (observed: Observed): NonNullable<MagnumClusterStatus["nodeGroups"]> =>
  plan(observed, NOW).status.nodeGroups ?? [];
const failing = (object: object | undefined, reason: string) => ({
  ...object,
  status: {
    ...(object as { status?: object } | undefined)?.status,
    conditions: [
      { type: "Available", status: "True", reason: "Available" },
      { type: "Other", status: "False", reason, message: "why" },
    ],
  },
});

describe("a node group of a cluster that failed", () => {
  it("is not at fault while the network or the control plane is: it waits for them", () => {
    const waiting = unready(settled());
    const infrastructure = failing(waiting.infrastructure, "OverlappingCIDR") as OpenStackCluster;
    const { status } = plan({ ...waiting, infrastructure }, NOW);
    expect([status.status, status.code]).toEqual(["CREATE_FAILED", "OverlappingCIDR"]);
    expect(status.nodeGroups?.[0]).toMatchObject({ status: "CREATE_IN_PROGRESS", reason: "" });
    const slow = unready(settled(late, { conditions: [] }));
    expect(plan(slow, NOW).status.status).toBe("CREATE_FAILED");
    expect(groupsOf(slow)[0]).toMatchObject({ status: "CREATE_IN_PROGRESS", reason: "" });
  });

  it("has failed with the cause of its servers, and when its nodes are late", () => {
    const cause = {
      status: "CREATE_FAILED",
      reason: expect.stringContaining("Quota exceeded (req-1) (QuotaExceeded)"),
    };
    expect(groupsOf(withServer(settled(), "QuotaExceeded"))[0]).toMatchObject(cause);
    const text = "the cluster was not complete after 60 minutes; default-worker: 0 of 1 nodes are ready";
    expect(groupsOf(unready(settled(late)))[0]).toMatchObject({ status: "CREATE_FAILED", reason: text });
  });

  it("waits for its own machines while a machine of another group failed, and fails when they are late", () => {
    const failed = groupsOf(withServer(settled(both), "QuotaExceeded"));
    expect(failed.map(({ status }) => status)).toEqual(["CREATE_FAILED", "CREATE_IN_PROGRESS"]);
    expect(failed[1]).toMatchObject({ reason: "" });
    const slow = groupsOf(withServer(settled({ ...both, ...late }), "QuotaExceeded"));
    expect(slow.map(({ status }) => status)).toEqual(["CREATE_FAILED", "CREATE_FAILED"]);
    expect(slow[1]?.reason).toContain("other: 0 of 1 nodes are ready");
  });

  it("is judged in an update as in a create", () => {
    const nodeGroups = [group, other].map(({ uuid }) => ({ uuid, status: "CREATE_COMPLETE" }));
    const status = {
      created: true,
      status: "UPDATE_IN_PROGRESS",
      observedGeneration: 2,
      changingSince: at(-5),
      nodeGroups,
    };
    const failed = groupsOf(withServer(settled({ ...both, status }), "QuotaExceeded"));
    expect(failed.map((one) => one.status)).toEqual(["UPDATE_FAILED", "UPDATE_IN_PROGRESS"]);
  });

  it("has failed with its server's cause when the control plane has only an old backup", () => {
    const observed = withServer(settled(), "QuotaExceeded");
    const controlPlane = failing(observed.controlPlane, "BackupOld") as HostedControlPlane;
    expect(groupsOf({ ...observed, controlPlane })[0]?.status).toBe("CREATE_FAILED");
    const slow = unready(settled(late));
    expect(groupsOf({ ...slow, controlPlane })[0]?.status).toBe("CREATE_FAILED");
  });

  it("has failed with the cause of a server that only its machine refers to", () => {
    const observed = settled();
    const machines = observed.machines.map((machine) => ({
      ...machine,
      spec: { ...machine.spec, infrastructureRef: { ...machine.spec.infrastructureRef, name: "s0" } },
      status: {},
    }));
    const adopted = { ...withServer(observed, "InstanceStateError", {}), machines: machines as Observed["machines"] };
    expect(groupsOf(adopted)[0]?.status).toBe("CREATE_FAILED");
  });
});

describe("the state of a part of a cluster", () => {
  const failed = { status: "UPDATE_FAILED", reason: "" } as const;
  const under = { status: "UPDATE_IN_PROGRESS", reason: "" } as const;
  const complete = { status: "UPDATE_COMPLETE", reason: "" } as const;
  const change = (observed: Observed, minutes = 5) => ({
    observed: decide(observed),
    isDone: false,
    isWriting: false,
    finding: undefined,
    since: NOW - minutes * 60_000,
    progress: undefined,
    now: NOW,
  });
  const poolOf = (observed: Observed) => {
    const pool = poolsOf(observed).find((each) => each.group.uuid === group.uuid);
    if (!pool) throw new Error("there is no pool");
    return pool;
  };
  const withoutNetwork = (observed: Observed): Observed => ({
    ...observed,
    infrastructure: failing(observed.infrastructure, "OverlappingCIDR") as OpenStackCluster,
  });

  it("is, of a group of a complete cluster, what it was, whatever other groups are", () => {
    const own = { uuid: group.uuid, status: "UPDATE_FAILED" };
    const of = (reason?: string) => {
      const nodeGroups = [
        { uuid: other.uuid, status: "CREATE_COMPLETE", reason: "other" },
        { ...own, reason },
      ];
      const observed = unready(settled({ ...both, status: { created: true, nodeGroups } }));
      return groupVerdict(poolOf(observed), change(observed), complete);
    };
    expect(of("quota")).toEqual({ status: "UPDATE_FAILED", reason: "quota" });
    expect(of()).toEqual({ status: "UPDATE_FAILED", reason: "" });
  });

  it.each<[string, Observed, number, typeof failed | typeof under, string]>([
    ["in progress while the cluster is, though its time is over", unready(settled()), 61, under, "CREATE_IN_PROGRESS"],
    ["failed with the cluster once its time is over", unready(settled()), 61, failed, "CREATE_FAILED"],
    ["in progress before that", unready(settled()), 5, failed, "CREATE_IN_PROGRESS"],
    ["in progress while the network fails", withoutNetwork(unready(settled())), 61, failed, "CREATE_IN_PROGRESS"],
  ])("is, of a group: %s", (_, observed, minutes, whole, status) => {
    expect(groupVerdict(poolOf(observed), change(observed, minutes), whole).status).toBe(status);
  });

  it.each<[string, Observed, number, typeof failed | typeof under, string, string]>([
    ["in progress", settled(), 61, under, "DELETE_IN_PROGRESS", "nodes still to be deleted: 1"],
    ["in progress before its time is over", settled(), 5, failed, "DELETE_IN_PROGRESS", "nodes still to be deleted: 1"],
    [
      "failed when its time is over",
      settled(),
      61,
      failed,
      "DELETE_FAILED",
      "the cluster was not complete after 60 minutes; nodes still to be deleted: 1",
    ],
    [
      "in progress with what a server reports",
      withServer(settled(), "QuotaExceeded"),
      5,
      failed,
      "DELETE_IN_PROGRESS",
      "Quota exceeded (req-1)",
    ],
  ])("is, of a group that is deleted: %s", (_, observed, minutes, whole, status, reason) => {
    const verdict = deletionVerdict(poolOf(observed), change(observed, minutes), whole);
    expect(verdict.status).toBe(status);
    expect(verdict.reason).toContain(reason);
  });

  it.each<[string, Observed, number, typeof failed | typeof under | typeof complete, string]>([
    [
      "in progress while the cluster is, though its network fails",
      withoutNetwork(noServer()),
      5,
      under,
      "CREATE_IN_PROGRESS",
    ],
    ["failed with the cluster where its network fails", withoutNetwork(noServer()), 5, failed, "CREATE_FAILED"],
    ["failed with the cluster once its time is over", noServer(), 61, failed, "CREATE_FAILED"],
    ["in progress before that", noServer(), 5, failed, "CREATE_IN_PROGRESS"],
    ["what it was in a complete cluster", noServer({ status: "UPDATE_FAILED" }), 5, complete, "UPDATE_FAILED"],
    ["complete while nodes are replaced for a rotation", rolling(), 5, under, "CREATE_COMPLETE"],
  ])("is, of the masters: %s", (_, observed, minutes, whole, status) => {
    expect(mastersVerdict(change(observed, minutes), whole).status).toBe(status);
  });

  /** The control plane does not serve yet. */
  function noServer(masters?: object): Observed {
    return settled(masters ? { status: { created: true, masters } } : {}, { conditions: [] });
  }

  /** Nodes know only the old authority. */
  function rolling(): Observed {
    const authorities = { phase: "Prepared", rotation: at(-2), rotatedAt: at(-1) };
    return settled({ spec: { rotateAuthoritiesAfter: at(-2) } }, { authorities });
  }
});

describe("the manifest of a node group that is scaled automatically", () => {
  const labels = { auto_scaling_enabled: "true", max_node_count: "5" };
  const scaled = settled({ spec: { labels } });
  const replicasOf = (observed: Observed): (number | undefined)[] =>
    decide(observed).desired.flatMap(({ object }) =>
      object.kind === "MachineDeployment" ? (object as MachineDeployment).spec.replicas : [],
    );
  const [standing] = scaled.deployments;
  const withNodes = (name: string): Observed => ({
    ...scaled,
    deployments: standing
      ? [{ ...standing, metadata: { ...standing.metadata, name }, spec: { ...standing.spec, replicas: 3 } }]
      : [],
  });

  it.each([
    ["that the autoscaler has made of it", "web-default", 3],
    ["that were requested, where only another pool has others", "web-other", 1],
  ])("has the nodes %s", (_title, name, nodes) => {
    expect(standing?.metadata.name).toBe("web-default");
    expect(replicasOf(withNodes(name))).toEqual([nodes]);
  });
});
