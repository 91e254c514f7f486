import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, same, text, type Json } from "../../json/json.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { TEMPLATE_GENERATION } from "../../wire/defaults/workloads.ts";
import { dnsLabel, notNegative, selectorProblems, supported } from "../shared/checks.ts";
import type { Draft, Strategy, WriteContext } from "../../contract/resource.ts";
import { countOrShare, notOverAll } from "../shared/rules.ts";
import {
  asGiven,
  endlessProblems,
  isEmptySelector,
  isReadable,
  templateLabelProblems,
  templateProblems,
  warnOfTemplate,
} from "../shared/template.ts";
import { deploymentStatusProblems } from "./status.ts";

/*
 * Deployments and their like: kept and checked; another process may run them. Source: Kubernetes API reference,
 * workload resources.
 */

/** The selector, and the template where the selector can be followed. */
function podsProblems(spec: Json, called: string, owner: string): FieldProblem[] {
  const selector = spec["selector"] ?? undefined;
  const field = "spec.selector";
  const problems = selector === undefined ? [required(field)] : selectorProblems(field, selector);
  if (selector !== undefined && isEmptySelector(selector)) {
    problems.push(invalidValue(field, {}, `empty selector is invalid for ${called}`));
  }
  if (!isReadable(selector)) return [...problems, invalidValue(field, selector, "invalid label selector")];
  const template = record(spec["template"]);
  return [
    ...problems,
    ...templateLabelProblems(spec, "spec"),
    ...templateProblems(withClaims(template, spec), "spec.template"),
    ...endlessProblems(template, "spec.template", owner),
  ];
}

/**
 * The template with a volume for each claim that a StatefulSet's controller adds to its pods: containers mount them.
 */
function withClaims(template: Json, { volumeClaimTemplates }: Json): Json {
  const claims = records(volumeClaimTemplates).map((claim) => text(at(claim, "metadata", "name")));
  if (claims.length === 0) return template;
  const spec = record(template["spec"]);
  const volumes = records(spec["volumes"]);
  const own = new Set(volumes.map(({ name }) => name));
  const added = claims.filter((name) => !own.has(name)).map((name) => ({ name, emptyDir: {} }));
  return { ...template, spec: { ...spec, volumes: [...volumes, ...added] } };
}

function counts(spec: Json, ...names: readonly string[]): FieldProblem[] {
  return names.flatMap((name) => notNegative(`spec.${name}`, spec[name]));
}

/** A text that is neither a number nor a share counts as none. */
const isNothing = (count: unknown): boolean =>
  count === 0 || (typeof count === "string" && (!/^[+-]?\d+%?$/.test(count) || Number.parseInt(count, 10) === 0));

function deploymentStrategy({ strategy }: Json): FieldProblem[] {
  if (strategy === undefined) return [];
  const { type, rollingUpdate } = record(strategy);
  const field = "spec.strategy";
  if (type === "Recreate") {
    if (rollingUpdate === undefined) return [];
    return [forbiddenField(`${field}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type !== "RollingUpdate") {
    const shown = { Type: type ?? "", RollingUpdate: rollingUpdate ?? null };
    return [notSupported(field, shown, ["Recreate", "RollingUpdate"])];
  }
  const { maxSurge, maxUnavailable } = record(rollingUpdate);
  const at = `${field}.rollingUpdate`;
  const problems = [
    ...countOrShare(maxUnavailable, `${at}.maxUnavailable`),
    ...countOrShare(maxSurge, `${at}.maxSurge`),
  ];
  if (isNothing(maxSurge) && isNothing(maxUnavailable)) {
    problems.push(invalidValue(`${at}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
  }
  return [...problems, ...notOverAll(maxUnavailable, `${at}.maxUnavailable`)];
}

function deadlineProblems({ progressDeadlineSeconds: deadline, minReadySeconds: ready = 0 }: Json): FieldProblem[] {
  const field = "spec.progressDeadlineSeconds";
  if (typeof deadline !== "number" || typeof ready !== "number" || deadline > ready)
    return notNegative(field, deadline);
  return [...notNegative(field, deadline), invalidValue(field, deadline, "must be greater than minReadySeconds")];
}

function daemonStrategy({ updateStrategy }: Json): FieldProblem[] {
  if (updateStrategy === undefined) return [];
  const { type, rollingUpdate } = record(updateStrategy);
  const field = "spec.updateStrategy";
  if (type === "OnDelete") return [];
  if (type !== "RollingUpdate") {
    const shown = { Type: type ?? "", RollingUpdate: rollingUpdate ?? null };
    return [notSupported(field, shown, ["RollingUpdate", "OnDelete"])];
  }
  const { maxSurge, maxUnavailable } = record(rollingUpdate);
  const at = `${field}.rollingUpdate`;
  const problems = [
    ...countOrShare(maxUnavailable, `${at}.maxUnavailable`),
    ...countOrShare(maxSurge, `${at}.maxSurge`),
  ];
  const surges = maxSurge !== undefined && !isNothing(maxSurge);
  if (surges && maxUnavailable !== undefined && !isNothing(maxUnavailable)) {
    problems.push(invalidValue(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  }
  if (!surges && isNothing(maxUnavailable)) {
    problems.push(required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  }
  return [
    ...problems,
    ...notOverAll(maxUnavailable, `${at}.maxUnavailable`),
    ...notOverAll(maxSurge, `${at}.maxSurge`),
  ];
}

function setStrategy({ updateStrategy }: Json): FieldProblem[] {
  if (updateStrategy === undefined) return [];
  const { type, rollingUpdate } = record(updateStrategy);
  const field = "spec.updateStrategy";
  if (type !== "OnDelete" && type !== "RollingUpdate") {
    const shown = { Type: type ?? "", RollingUpdate: rollingUpdate ?? null };
    return [invalidValue(field, shown, "must be 'RollingUpdate' or 'OnDelete'")];
  }
  const { partition, maxUnavailable } = record(rollingUpdate);
  if (type === "RollingUpdate") return notNegative(`${field}.rollingUpdate.partition`, partition);
  if (rollingUpdate === undefined) return [];
  const shown = { Partition: partition ?? 0, MaxUnavailable: maxUnavailable ?? null };
  return [invalidValue(`${field}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'")];
}

const RETENTIONS = ["Retain", "Delete"];
const MANAGEMENTS = ["OrderedReady", "Parallel"];

function setProblems(spec: Json): FieldProblem[] {
  const { podManagementPolicy: management, persistentVolumeClaimRetentionPolicy: retention } = spec;
  const problems: FieldProblem[] = [];
  if (management !== undefined && !MANAGEMENTS.includes(text(management))) {
    problems.push(invalidValue("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'"));
  }
  problems.push(...setStrategy(spec));
  for (const name of ["whenDeleted", "whenScaled"]) {
    const field = `spec.persistentVolumeClaimRetentionPolicy.${name}`;
    problems.push(...supported(field, record(retention)[name], RETENTIONS));
  }
  problems.push(...counts(spec, "replicas", "minReadySeconds"));
  problems.push(...notNegative("spec.ordinals.start", at(spec, "ordinals", "start")));
  const service = text(spec["serviceName"]);
  return [
    ...problems,
    ...podsProblems(spec, "statefulset", "StatefulSet"),
    ...(service === "" ? [] : dnsLabel("spec.serviceName", service)),
  ];
}

const RULES: Readonly<Record<string, (spec: Json) => FieldProblem[]>> = {
  Deployment: (spec) => [
    ...counts(spec, "replicas"),
    ...podsProblems(spec, "deployment", "ReplicaSet"),
    ...deploymentStrategy(spec),
    ...counts(spec, "minReadySeconds", "revisionHistoryLimit"),
    ...deadlineProblems(spec),
  ],
  // kube-apiserver calls it a deployment, too.
  ReplicaSet: (spec) => [
    ...counts(spec, "replicas", "minReadySeconds"),
    ...podsProblems(spec, "deployment", "ReplicaSet"),
  ],
  DaemonSet: (spec) => [
    ...podsProblems(spec, "daemonset", "DaemonSet"),
    ...counts(spec, "minReadySeconds"),
    ...daemonStrategy(spec),
    ...counts(spec, "revisionHistoryLimit"),
  ],
  StatefulSet: setProblems,
};

const SET_CHANGEABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const SET_FIXED =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** What is immutable. */
function fixedProblems(kind: string, spec: Json, was: Json): FieldProblem[] {
  if (kind === "StatefulSet") {
    const names = [...new Set([...Object.keys(spec), ...Object.keys(was)])];
    const isChanged = names.some((name) => !SET_CHANGEABLE.includes(name) && !same(spec[name], was[name]));
    return isChanged ? [forbiddenField("spec", SET_FIXED)] : [];
  }
  const { selector } = spec;
  return same(selector, was["selector"]) ? [] : [invalidValue("spec.selector", selector, "field is immutable")];
}

/** Rules of Deployments, ReplicaSets and StatefulSets: spec, status, and what is immutable. */
export const workloadStrategy: Strategy = {
  admit: warnOfTemplate,
  prepareUpdate(draft, old, { subresource }) {
    if (draft.kind !== "Deployment") return;
    if (subresource === "status") keepLabels(draft, old);
    // What is said of a Deployment is said of its ReplicaSets too, and counts as a change.
    else if (subresource === "" && !same(draft.metadata.annotations ?? {}, old.metadata.annotations ?? {}))
      draft.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validate(object, old, context) {
    if (context.subresource) return statusProblems(object, old, context);
    const spec = record(fields(object)["spec"]);
    const problems = RULES[object.kind]?.(asGiven(spec, context)) ?? [];
    return old ? [...problems, ...fixedProblems(object.kind, spec, record(fields(old)["spec"]))] : problems;
  },
};

/** Who writes a Deployment's status leaves its labels. */
function keepLabels(draft: Draft, old: KubeObject): void {
  if (old.metadata.labels) draft.metadata.labels = old.metadata.labels;
  else delete draft.metadata.labels;
}

function statusProblems(
  object: KubeObject,
  old: KubeObject | undefined,
  { subresource }: WriteContext,
): FieldProblem[] {
  if (object.kind !== "Deployment" || subresource !== "status" || !old) return [];
  return deploymentStatusProblems(fields(object)["status"], fields(old)["status"]);
}

/** A DaemonSet counts the changes of its template in an annotation. */
export const daemonSetStrategy: Strategy = {
  ...workloadStrategy,
  prepareCreate(draft) {
    countTemplate(draft, 1);
  },
  prepareUpdate(draft, old) {
    const was = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const isChanged = !same(at(draft, "spec", "template"), at(old, "spec", "template"));
    countTemplate(draft, isChanged ? was + 1 : was);
  },
};

function countTemplate(draft: Draft, count: number): void {
  draft.metadata.annotations = { ...draft.metadata.annotations, [TEMPLATE_GENERATION]: String(count) };
}
