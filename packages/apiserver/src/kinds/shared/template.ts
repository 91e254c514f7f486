import type { KubeObject } from "@causeway/kubernetes";
import { at, record, records, text, texts, type Json } from "../../json/json.ts";
import { matchesLabels } from "../../contract/selectors.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { labelName, labelValue, selectorProblems } from "./checks.ts";
import { podSpecProblems } from "../core/pods/spec.ts";
import { nameWarnings, podWarnings } from "../core/pods/warnings.ts";
import type { WriteContext } from "../../contract/resource.ts";

/*
 * Templates of pods, and the selectors that find what is made of them. Source: Kubernetes API reference,
 * PodTemplateSpec and LabelSelector.
 */

/** What is wrong with a template at `path`. */
export function templateProblems(template: Json, path: string): FieldProblem[] {
  const spec = record(template["spec"]);
  const { labels, annotations } = record(template["metadata"]);
  const problems = [
    ...Object.entries(record(labels)).flatMap(([key, value]) => [
      ...labelName(`${path}.labels`, key),
      ...labelValue(`${path}.labels`, text(value)),
    ]),
    ...Object.keys(record(annotations)).flatMap((key) => labelName(`${path}.annotations`, key.toLowerCase())),
    ...podSpecProblems(spec, `${path}.spec`),
  ];
  if (records(spec["ephemeralContainers"]).length === 0) return problems;
  const why = "ephemeral containers not allowed in pod template";
  return [...problems, forbiddenField(`${path}.spec.ephemeralContainers`, why)];
}

/** Kinds whose pods are named after them. */
const NAMING: ReadonlySet<string> = new Set(["Deployment", "ReplicaSet", "Job"]);

/** Warns of what is odd about the template of an object that is new, or says something new. */
export function warnOfTemplate(
  object: KubeObject,
  old: KubeObject | undefined,
  { warn }: Pick<WriteContext, "warn">,
): void {
  if (old && old.metadata.generation === object.metadata.generation) return;
  const isNew = old === undefined && NAMING.has(object.kind);
  const names = isNew ? nameWarnings(object.metadata.name, "Pod names and hostnames") : [];
  const template = podWarnings(record(at(object, "spec", "template")), "spec.template.");
  for (const message of [...names, ...template]) warn(message);
}

/** What runs until it is deleted starts its containers again, and has no end. */
export function endlessProblems(template: Json, path: string, owner: string): FieldProblem[] {
  const policy = text(at(template, "spec", "restartPolicy"));
  const problems =
    policy === "" || policy === "Always" ? [] : [notSupported(`${path}.spec.restartPolicy`, policy, ["Always"])];
  if (at(template, "spec", "activeDeadlineSeconds") === undefined) return problems;
  const why = `activeDeadlineSeconds in ${owner} is not Supported`;
  return [...problems, forbiddenField(`${path}.spec.activeDeadlineSeconds`, why)];
}

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"];

/** Whether a selector can be followed at all; an invalid selector reports only its own faults. */
export function isReadable(selector: unknown): boolean {
  return (
    selectorProblems("", selector).length === 0 &&
    records(at(selector, "matchExpressions")).every((e) => OPERATORS.includes(text(e["operator"])))
  );
}

/** Whether a label selector has no requirement, so that it selects everything. */
export function isEmptySelector(selector: unknown): boolean {
  const { matchLabels, matchExpressions } = record(selector);
  return Object.keys(record(matchLabels)).length === 0 && records(matchExpressions).length === 0;
}

/** The spec with its template's labels as they were given, which may have been none. */
export function asGiven(spec: Json, { emptyMaps }: Pick<WriteContext, "emptyMaps">): Json {
  const isFilled = at(spec, "template", "metadata", "labels") !== undefined;
  if (isFilled || !emptyMaps.has("spec.template.metadata.labels")) return spec;
  const template = record(spec["template"]);
  return { ...spec, template: { ...template, metadata: { ...record(template["metadata"]), labels: {} } } };
}

/** A template whose pods its own selector would not find. */
export function templateLabelProblems(spec: Json, path: string): FieldProblem[] {
  const selector = spec["selector"] ?? undefined;
  const labels = at(spec, "template", "metadata", "labels");
  const isFound = selector !== undefined && matchesLabels(selector, record(labels));
  if (isFound || (selector !== undefined && isEmptySelector(selector))) return [];
  const why = "`selector` does not match template `labels`";
  return [invalidValue(`${path}.template.metadata.labels`, labels ?? null, why)];
}

/** What is wrong with access modes: there must be at least one, and each must be known. */
export function modesProblems(field: string, modes: unknown, known: readonly string[]): FieldProblem[] {
  const list = texts(modes);
  const unknown = list.filter((mode) => !known.includes(mode)).map((mode) => notSupported(field, mode, known));
  return list.length === 0 ? [required(field)] : unknown;
}
