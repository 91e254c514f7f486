import { shortened, shortList } from "@causeway/foundation";
import {
  AddonSet,
  MachineDeployment,
  MachineHealthCheck,
  type MagnumClusterStatus,
  type Manifest,
} from "@causeway/api";
import type { KubeObject, Plan } from "@causeway/kubernetes";
import { allFindings } from "./findings.ts";
import type { Observed } from "./gather.ts";
import { planMigrating, readMigrating } from "./migrating.ts";
import { appliedAnnotation, finalizer, isPending } from "./names.ts";
import { decide, type Decided } from "./plan-desired.ts";
import { departedGroups } from "./plan-groups.ts";
import { marksOf, unmarksOf } from "./plan-marks.ts";
import { statusOf } from "./plan-status.ts";
import { worded } from "./plan-verdict.ts";
import { isRolledOut, namesOfPools } from "./pools.ts";
import type { Step } from "./steps.ts";

type Status = MagnumClusterStatus;

const CHECK = MachineHealthCheck.kind;
/** A create that takes longer has ended without a response: its process was ended, or the store was away. */
const CREATE_DEADLINE = 2 * 60_000;
const DELETE_TIMEOUT = 30 * 60_000;
/** Causes and servers that the reason of a deletion names at most. */
const [CAUSES, NAMES] = [5, 10];

/** The rules of a cluster: what is to be written, and the state that clients see. */
export function plan(observed: Observed, now: number): Plan<Step, Status> {
  const { object } = observed;
  if (isPending(object))
    return object.metadata.deletionTimestamp === undefined ? planPending(observed, now) : planDeletion(observed, now);
  const migrating = readMigrating(object);
  if (migrating) return planMigrating(decide(observed), migrating, now);
  if (object.metadata.deletionTimestamp !== undefined) return planDeletion(observed, now);
  const decided = decide(observed);
  const steps = nextSteps(decided);
  // A complete cluster may get add-ons, or others: that is no change of the cluster.
  return {
    ...statusOf(
      decided,
      steps.some((step) => !isAboutAddons(step)),
      now,
    ),
    steps,
  };
}

const isAboutAddons = (step: Step): boolean =>
  step.type === "delete-addons" || (step.type === "apply" && step.manifest.object.kind === AddonSet.kind);

/** Nothing is made of a row before its create has been responded to. */
function planPending({ object }: Observed, now: number): Plan<Step, Status> {
  const until = Date.parse(object.metadata.creationTimestamp ?? "") + CREATE_DEADLINE;
  const status: Status = { ...object.status, status: "CREATE_IN_PROGRESS", reason: "the request is being processed" };
  return now < until
    ? { steps: [], status, wait: { for: "the end of the request that creates the cluster", until } }
    : { steps: [{ type: "discard-row" }], status };
}

function nextSteps(observed: Decided): readonly Step[] {
  const { object, desired, standing, hasCredentials } = observed;
  if (!(object.metadata.finalizers ?? []).includes(finalizer)) return [{ type: "add-finalizer" }];
  if (!hasCredentials) return [];
  const outdated = desired.filter((manifest) => !isApplied(manifest, standing));
  const marks = outdated.some(({ object: { kind } }) => kind === MachineDeployment.kind) ? marksOf(observed) : [];
  const apply = outdated.map((manifest): Step => ({ type: "apply", name: nameOf(manifest.object), manifest }));
  return [...unmarksOf(observed), ...marks, ...apply, ...surplus(observed), ...departedGroups(observed)];
}

const nameOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`;

function isApplied({ object }: Manifest, standing: readonly KubeObject[]): boolean {
  const found = standing.find(({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name);
  return found?.metadata.annotations?.[appliedAnnotation] === object.metadata.annotations?.[appliedAnnotation];
}

/** Pools of node groups that were deleted, and templates that no pool refers to any longer. */
function surplus({ object, desired, deployments, standing, machines }: Decided): readonly Step[] {
  const wanted = namesOfPools(object);
  const pools = deployments
    .filter(({ metadata }) => !wanted.has(metadata.name) && metadata.deletionTimestamp === undefined)
    .map(({ metadata }): Step => ({ type: "delete-pool", name: metadata.name }));
  // The cluster owns its checks: they go with it, too.
  const checked = new Set(desired.filter((one) => one.object.kind === CHECK).map((one) => one.object.metadata.name));
  const checks = standing
    .filter(
      ({ kind, metadata }) => kind === CHECK && metadata.deletionTimestamp === undefined && !checked.has(metadata.name),
    )
    .map(({ metadata }): Step => ({ type: "delete-health-check", name: metadata.name }));
  const used = new Set([
    ...deployments.map(({ spec }) => spec.template.spec.infrastructureRef.name),
    ...deployments.filter(({ metadata }) => !wanted.has(metadata.name)).map(({ metadata }) => metadata.name),
  ]);
  const isQuiet =
    deployments.every(isRolledOut) && machines.every(({ metadata }) => metadata.deletionTimestamp === undefined);
  const templates = standing
    .filter(
      ({ kind, metadata }) =>
        kind === "OpenStackMachineTemplate" && metadata.deletionTimestamp === undefined && !used.has(metadata.name),
    )
    .map(({ metadata }): Step => ({ type: "delete-templates", name: metadata.name }));
  const hasAddons = desired.some((one) => one.object.kind === AddonSet.kind);
  const addons = standing
    .filter(({ kind, metadata }) => kind === AddonSet.kind && metadata.deletionTimestamp === undefined && !hasAddons)
    .map(({ metadata }): Step => ({ type: "delete-addons", name: metadata.name }));
  const gone = [...checks, ...addons, ...pools];
  return deployments.length > 0 && isQuiet ? [...gone, ...templates] : gone;
}

/** What is left of a cluster that is deleted, as its users know it. */
function leftText({ cluster, controlPlane, infrastructure, machines, servers }: Observed): string {
  const names = [...new Set([...servers, ...machines].map(({ metadata }) => metadata.name))];
  const left = [
    ...(names.length === 0
      ? []
      : [`${names.length === 1 ? "server" : `${names.length} servers`} ${shortList(names, NAMES)}`]),
    ...(infrastructure === undefined ? [] : ["the network"]),
    ...(controlPlane === undefined ? [] : ["the control plane"]),
  ];
  if (left.length > 0) return `still to be deleted: ${left.join(", ")}`;
  return cluster === undefined ? "the credentials are being revoked" : "the last parts are being deleted";
}

function planDeletion(observed: Observed, now: number): Plan<Step, Status> {
  const { object, cluster, controlPlane, infrastructure, machines, servers } = observed;
  const begun = Date.parse(object.metadata.deletionTimestamp ?? "");
  const findings = allFindings([...servers, ...machines, infrastructure, controlPlane]);
  const isLate = now >= begun + DELETE_TIMEOUT;
  const what = leftText(observed);
  const causes = findings.flatMap((finding) => worded(finding) ?? []);
  const { status: _, reason: __, code: ___, conditions, ...rest } = object.status ?? { status: "DELETE_IN_PROGRESS" };
  const status: Status = {
    ...rest,
    ...(conditions ? { conditions } : {}),
    observedGeneration: object.metadata.generation ?? 0,
    status: isLate ? "DELETE_FAILED" : "DELETE_IN_PROGRESS",
    reason: [...shortened(causes, CAUSES), what].join("; ").slice(0, 4_000),
    ...(findings[0] ? { code: findings[0].code } : {}),
  };
  if (!(object.metadata.finalizers ?? []).includes(finalizer)) return { steps: [], status };
  if (cluster !== undefined) {
    const steps: Step[] = cluster.metadata.deletionTimestamp === undefined ? [{ type: "delete-cluster" }] : [];
    return { steps, status, wait: { for: what, ...(isLate ? {} : { until: begun + DELETE_TIMEOUT }) } };
  }
  return machines.length + servers.length > 0
    ? { steps: [], status, wait: { for: what } }
    : { steps: [{ type: "revoke-credential" }, { type: "remove-finalizer" }], status };
}
