/** A node group whose deletion was requested is listed until its nodes are gone. */
import { describe, expect, it } from "vitest";
import type { MagnumClusterStatus } from "@causeway/api";
import { at, group, NOW, settled } from "../testing/observed.ts";
import type { Observed } from "./gather.ts";
import { magnumLabels } from "./names.ts";
import { decide } from "./plan-desired.ts";
import { plan } from "./plan.ts";

const extra = { ...group, uuid: "6e8ae3a5-0b4c-4f0e-9d26-0000000000b3", name: "extra", isDefault: false };
const progress = { stage: 4, remaining: 0, at: at(-61) };
const before = { created: true, status: "UPDATE_IN_PROGRESS", observedGeneration: 2, changingSince: at(-61), progress };

/** A cluster whose second group is being deleted; with its default status the request is new. */
function deleting(status: object = { ...before, observedGeneration: 1 }): Observed {
  const observed = settled({ spec: { nodeGroups: [group, extra] }, status });
  const { object } = observed;
  const nodeGroups = [group, { ...extra, deletedAt: at(-1) }];
  return { ...observed, object: { ...object, spec: { ...object.spec, nodeGroups } } };
}

const isExtra = ({ metadata }: { metadata: { name: string; labels?: Readonly<Record<string, string>> } }) =>
  metadata.labels?.[magnumLabels.nodeGroup] === extra.uuid || metadata.name === "web-000000b3";
const without = (observed: Observed, ...kinds: readonly ("deployments" | "machines")[]): Observed => ({
  ...observed,
  ...Object.fromEntries(kinds.map((kind) => [kind, observed[kind].filter((one) => !isExtra(one))])),
});
const leaving = (observed: Observed): Observed => ({
  ...observed,
  deployments: observed.deployments.map((one) =>
    isExtra(one) ? { ...one, metadata: { ...one.metadata, deletionTimestamp: at(-1) } } : one,
  ),
});
/** With a server of the group that has failed; as a Machine of it reports it, too. */
const failing = (observed: Observed, by?: "Machine"): Observed => {
  const conditions = [{ type: "InstanceReady", status: "False", reason: "InstanceStateError", message: "why" }];
  const labels = { [magnumLabels.nodeGroup]: extra.uuid };
  const server = { kind: "OpenStackMachine", metadata: { name: "s", labels }, status: { conditions } };
  const machines = observed.machines.map((one) =>
    isExtra(one) && by === "Machine" ? { ...one, status: { ...one.status, conditions } } : one,
  );
  return { ...observed, machines, servers: [server] as unknown as Observed["servers"] } as Observed;
};

const withoutNetwork = (observed: Observed): Observed => {
  const conditions = [{ type: "Other", status: "False", reason: "OverlappingCIDR", message: "why" }];
  return { ...observed, infrastructure: { ...observed.infrastructure, status: { conditions } } } as Observed;
};

describe("a deleted node group", () => {
  it.each<[string, Observed, string, string, MagnumClusterStatus["status"]]>([
    ["has its pool deleted first", deleting(), "delete-pool", "DELETE_IN_PROGRESS", "UPDATE_IN_PROGRESS"],
    ["is listed while its pool goes", leaving(deleting()), "", "DELETE_IN_PROGRESS", "UPDATE_IN_PROGRESS"],
    [
      "is listed while it has a machine",
      without(deleting(), "deployments"),
      "delete-templates",
      "DELETE_IN_PROGRESS",
      "UPDATE_IN_PROGRESS",
    ],
    [
      "is listed while it has a server",
      failing(without(deleting(), "deployments", "machines")),
      "delete-templates",
      "DELETE_IN_PROGRESS",
      "UPDATE_IN_PROGRESS",
    ],
    [
      "has not failed to go because its server and machine failed before",
      failing(leaving(deleting()), "Machine"),
      "",
      "DELETE_IN_PROGRESS",
      "UPDATE_IN_PROGRESS",
    ],
    [
      "goes when nothing of it is left",
      without(deleting(), "deployments", "machines"),
      "delete-templates remove-group",
      "DELETE_IN_PROGRESS",
      "UPDATE_IN_PROGRESS",
    ],
    [
      "has not failed to go while the network has failed",
      withoutNetwork(failing(leaving(deleting()), "Machine")),
      "",
      "DELETE_IN_PROGRESS",
      "UPDATE_FAILED",
    ],
    [
      "has failed to go after an hour, with a failed server",
      failing(leaving(deleting(before)), "Machine"),
      "",
      "DELETE_FAILED",
      "UPDATE_FAILED",
    ],
    ["has failed to go after an hour", leaving(deleting(before)), "", "DELETE_FAILED", "UPDATE_FAILED"],
  ])("%s", (_, observed, steps, status, whole) => {
    const found = plan(observed, NOW);
    const groups = found.status.nodeGroups ?? [];
    expect(found.steps.map(({ type }) => type).join(" ")).toBe(steps);
    expect([groups.find(({ uuid }) => uuid === extra.uuid)?.status, found.status.status]).toEqual([status, whole]);
    expect(groups.find(({ uuid }) => uuid === group.uuid)?.status).toBe("CREATE_COMPLETE");
  });

  it("gets no pool and no health check", () => {
    const { object, ...observed } = deleting();
    const labels = { auto_healing_enabled: "true" };
    const wanted = decide({ ...observed, object: { ...object, spec: { ...object.spec, labels } } }).desired;
    const named = wanted.filter(({ object: { kind } }) => ["MachineDeployment", "MachineHealthCheck"].includes(kind));
    expect(named.map((one) => one.object.metadata.name)).toEqual(["web-default", "web-default"]);
  });
});
