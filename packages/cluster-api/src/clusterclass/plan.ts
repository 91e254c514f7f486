import { shortList } from "@causeway/foundation";
import { annotations, type ClusterClassStatus } from "@causeway/api";
import { ownerReference, setConditions, type Plan, type WantedCondition } from "@causeway/kubernetes";
import { listing, notPaused, settleConditions } from "../objects/conditions.ts";
import { metadataPatch } from "../objects/metadata.ts";
import { patchStep } from "../objects/steps.ts";
import type { Observed } from "./gather.ts";
import { isPausedClass } from "./paused.ts";
import { judgeVariables } from "./status-variables.ts";
import type { ClassStep } from "./steps.ts";

/** Steps own the templates; the status lists the variables. */
export type ClassPlan = Plan<ClassStep, ClusterClassStatus>;

/**
 * What to do for a ClusterClass: own its templates, so that a move takes them along, and say which variables it has.
 */
export function plan(observed: Observed, now: number): ClassPlan {
  const { clusterClass } = observed;
  const { generation } = clusterClass.metadata;
  if (isPausedClass(clusterClass)) {
    const paused: WantedCondition = {
      type: "Paused",
      status: "True",
      reason: "Paused",
      message: `ClusterClass has the annotation ${annotations.paused}`,
    };
    const conditions = setConditions(clusterClass.status?.conditions, [paused], { generation, now });
    return { steps: [], status: { ...clusterClass.status, conditions }, wait: { for: "unpausing" } };
  }
  const { problems, variables, again } = judgeVariables(observed);
  const conditions = [variablesReady(problems), versionsUpToDate(observed), notPaused];
  return {
    steps: adoptions(observed),
    status: {
      conditions: settleConditions(conditions, { previous: clusterClass.status?.conditions, generation, now }),
      ...(variables ? listed(variables) : previousVariables(observed)),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    },
    wait: { for: "changes", ...(again === undefined ? {} : { until: now + again }) },
  };
}

function adoptions({ clusterClass, templates }: Observed): ClassStep[] {
  if (clusterClass.metadata.deletionTimestamp) return [];
  const seen = new Set<string>();
  return templates.flatMap(({ found: { kind, object } }) => {
    if (!kind || !object || object.metadata.deletionTimestamp || seen.has(object.metadata.uid ?? "")) return [];
    seen.add(object.metadata.uid ?? "");
    return patchStep(kind, object, metadataPatch(object, { owner: ownerReference(clusterClass) }));
  });
}

function listed(variables: NonNullable<ClusterClassStatus["variables"]>): Pick<ClusterClassStatus, "variables"> {
  return variables.length > 0 ? { variables } : {};
}

/** While the definitions cannot be used, those that could remain. */
function previousVariables({ clusterClass }: Observed): Pick<ClusterClassStatus, "variables"> {
  const before = clusterClass.status?.variables;
  return before ? { variables: before } : {};
}

function variablesReady(problems: readonly string[]): WantedCondition {
  const type = "VariablesReady";
  if (problems.length === 0) return { type, status: "True", reason: "VariablesReady" };
  return {
    type,
    status: "False",
    reason: "VariableDiscoveryFailed",
    message: shortList(problems, 10, { separator: "; " }),
  };
}

/** Whether references name the newest version that is served: older ones work, and go one day. */
function versionsUpToDate({ templates }: Observed): WantedCondition {
  const type = "RefVersionsUpToDate";
  const lines = templates.flatMap(({ reference, found: { kind } }) => {
    const newest = kind && `${kind.group}/${kind.version}`;
    return newest === undefined || newest === reference.apiVersion
      ? []
      : [
          `Ref ${reference.kind} ${reference.name} uses apiVersion ${reference.apiVersion}, but latest apiVersion is ${newest}`,
        ];
  });
  if (lines.length === 0) return { type, status: "True", reason: "RefVersionsUpToDate" };
  return {
    type,
    status: "False",
    reason: "RefVersionsNotUpToDate",
    message: listing(lines, 20),
  };
}
