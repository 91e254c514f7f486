import { admitLimits } from "../admission/builtin/limits.ts";
import { admitTolerations } from "../admission/builtin/tolerations.ts";
import { mutatePod } from "../admission/builtin/pods.ts";
import { fields, record, records, text, type Json } from "../json.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import { same } from "../json.ts";
import type { Draft, Strategy } from "./resource.ts";

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Pods are kept, filled in and checked as far as a cluster without kubelets needs; nothing runs them here. */
export const podStrategy: Strategy = {
  mutate: mutatePod,
  admit: admitLimits,
  prepareCreate(draft) {
    draft["status"] = { phase: "Pending", qosClass: quality(draft) };
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource === "status") draft["spec"] = structuredClone(fields(old)["spec"]);
    else if (subresource === "") keepAdmitted(draft, record(fields(old)["spec"]));
  },
  validate(object, old, { subresource }) {
    if (subresource) return [];
    const spec = record(fields(object)["spec"]);
    return old ? updateProblems(spec, record(fields(old)["spec"])) : podSpecProblems(spec, "spec");
  },
};

/** What admission gave a pod stays when a writer leaves it out. */
function keepAdmitted(draft: Draft, was: Json): void {
  const spec = record(draft["spec"]);
  for (const name of ["priority", "preemptionPolicy"]) if (was[name] !== undefined) spec[name] ??= was[name];
  admitTolerations(draft);
}

const POLICIES = ["Always", "OnFailure", "Never"];

/** What is wrong with a PodSpec, its fields named from `path`. */
export function podSpecProblems(spec: Json, path: string): FieldProblem[] {
  const containers = records(spec["containers"]);
  if (containers.length === 0) return [required(`${path}.containers`)];
  const seen = new Set<string>();
  const found = containers.flatMap((container, i) => {
    const name = text(container["name"]);
    const field = `${path}.containers[${i}]`;
    const problems: FieldProblem[] = [];
    if (!name) problems.push(required(`${field}.name`));
    else if (!NAME.test(name)) {
      const why =
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
      problems.push(invalidValue(`${field}.name`, name, why));
    }
    if (!text(container["image"])) problems.push(required(`${field}.image`));
    problems.push(...pullProblems(text(container["imagePullPolicy"]), field));
    if (seen.has(name))
      problems.push({
        field: `${field}.name`,
        message: `Duplicate value: ${JSON.stringify(name)}`,
        reason: "FieldValueDuplicate",
      });
    seen.add(name);
    return problems;
  });
  found.push(...mountProblems(spec, path));
  const policy = text(spec["restartPolicy"]);
  const isKnown = policy === "" || POLICIES.includes(policy);
  return isKnown ? found : [...found, notSupported(`${path}.restartPolicy`, policy, POLICIES)];
}

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];

function pullProblems(policy: string, field: string): FieldProblem[] {
  if (policy === "" || PULL_POLICIES.includes(policy)) return [];
  return [notSupported(`${field}.imagePullPolicy`, policy, PULL_POLICIES)];
}

/** Volumes are mounted by the names that the pod gives them. */
function mountProblems(spec: Json, path: string): FieldProblem[] {
  const volumes = new Set(records(spec["volumes"]).map((v) => text(v["name"])));
  return ["initContainers", "containers"].flatMap((group) =>
    records(spec[group]).flatMap((container, i) =>
      records(container["volumeMounts"]).flatMap((mount, j): FieldProblem[] => {
        const name = text(mount["name"]);
        const field = `${path}.${group}[${i}].volumeMounts[${j}].name`;
        if (volumes.has(name)) return [];
        return [{ field, message: `Not found: ${JSON.stringify(name)}`, reason: "FieldValueNotFound" }];
      }),
    ),
  );
}

const CHANGEABLE = [
  "activeDeadlineSeconds",
  "terminationGracePeriodSeconds",
  "tolerations",
  "containers",
  "initContainers",
  "nodeName",
  "schedulingGates",
];

function updateProblems(spec: Json, was: Json): FieldProblem[] {
  const count = (s: Json, group: string): number => records(s[group]).length;
  for (const group of ["containers", "initContainers"]) {
    if (count(spec, group) === count(was, group)) continue;
    return [forbiddenField(`spec.${group}`, "pod updates may not add or remove containers")];
  }
  const fixed = (s: Json): Json => {
    const { ...rest } = s;
    for (const name of CHANGEABLE) delete rest[name];
    const withoutImage = ({ image: _image, ...c }: Json): Json => c;
    return { ...rest, containers: records(s["containers"]).map(withoutImage) };
  };
  if (same(fixed(spec), fixed(was))) return [];
  const why =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
  return [forbiddenField("spec", why)];
}

function quality(draft: Draft): string {
  const resources = records(record(draft["spec"])["containers"]).map((c) => record(c["resources"]));
  const requests = resources.map((r) => record(r["requests"] ?? r["limits"]));
  const limits = resources.map((r) => record(r["limits"]));
  if ([...requests, ...limits].every((r) => r["cpu"] === undefined && r["memory"] === undefined)) return "BestEffort";
  const whole = limits.every((l, i) => l["cpu"] !== undefined && l["memory"] !== undefined && same(requests[i], l));
  return whole ? "Guaranteed" : "Burstable";
}
