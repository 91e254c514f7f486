import { admitLimits } from "../admission/builtin/limits.ts";
import { admitTolerations } from "../admission/builtin/tolerations.ts";
import { mutatePod } from "../admission/builtin/pods.ts";
import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, isRecord, record, records, type Json } from "../json.ts";
import { forbiddenField } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import { same } from "../json.ts";
import { imageProblems } from "./pods/containers.ts";
import { newPodProblems, podSpecProblems } from "./pods/spec.ts";
import { portWarnings } from "./pods/warnings.ts";
import {
  ephemeralUpdateProblems,
  isResizable,
  keepButEphemeral,
  keepButResources,
  resizeProblems,
} from "./pods/subresources.ts";
import type { Draft, Strategy } from "./resource.ts";

/** Pods are kept, filled in and checked as far as a cluster without kubelets needs; nothing runs them here. */
export const podStrategy: Strategy = {
  mutate: mutatePod,
  admit(object, old, context) {
    admitLimits(object, old, context);
    if (old === undefined) portWarnings(record(fields(object)["spec"]), "spec").forEach((w) => context.warn(w));
  },
  read: pairAddresses,
  prepareCreate(draft) {
    draft["status"] = { phase: "Pending", qosClass: quality(record(draft["spec"])) };
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource === "status") keepButStatus(draft, old);
    else if (subresource === "ephemeralcontainers") keepButEphemeral(draft, old);
    else if (subresource === "resize") keepButResources(draft, old);
    else if (subresource === "") keepAdmitted(draft, record(fields(old)["spec"]));
  },
  validate(object, old, { subresource }) {
    const spec = record(fields(object)["spec"]);
    const was = record(old && fields(old)["spec"]);
    if (subresource === "ephemeralcontainers") return ephemeralUpdateProblems(spec, was);
    if (subresource === "resize" && old) {
      const without = forbiddenField("spec", "Pod running on node without support for resize");
      const problems = resizeProblems(spec, was, quality);
      return isResizable(fields(old)["status"]) ? problems : [...problems, without];
    }
    if (subresource) return [];
    return old
      ? updateProblems(spec, was)
      : [...podSpecProblems(spec, "spec"), ...imageProblems(spec, "spec"), ...newPodProblems(spec, "spec")];
  },
};

/** The first of a pod's addresses stands by itself too: who says one of the two says the other, and where both differ the one counts. */
function pairAddresses(draft: Draft): void {
  const status = draft["status"];
  if (!isRecord(status)) return;
  const [first] = records(status["podIPs"]);
  const { podIP } = status;
  if (podIP === undefined && first?.["ip"] !== undefined) status["podIP"] = first["ip"];
  else if (podIP !== undefined && podIP !== first?.["ip"]) status["podIPs"] = [{ ip: podIP }];
}

/** Who writes a status changes neither the spec nor the owners, and cannot take the quality away. */
function keepButStatus(draft: Draft, old: KubeObject): void {
  draft["spec"] = structuredClone(fields(old)["spec"]);
  if (old.metadata.ownerReferences) draft.metadata.ownerReferences = old.metadata.ownerReferences;
  else delete draft.metadata.ownerReferences;
  const quality = at(old, "status", "qosClass");
  draft["status"] = { ...(quality === undefined ? {} : { qosClass: quality }), ...record(draft["status"]) };
}

/** What admission gave a pod stays when a writer leaves it out. */
function keepAdmitted(draft: Draft, was: Json): void {
  const spec = record(draft["spec"]);
  for (const name of ["priority", "preemptionPolicy"]) if (was[name] !== undefined) spec[name] ??= was[name];
  admitTolerations(draft);
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

function quality(spec: Json): string {
  const resources = records(spec["containers"]).map((c) => record(c["resources"]));
  const requests = resources.map((r) => record(r["requests"] ?? r["limits"]));
  const limits = resources.map((r) => record(r["limits"]));
  if ([...requests, ...limits].every((r) => r["cpu"] === undefined && r["memory"] === undefined)) return "BestEffort";
  const whole = limits.every((l, i) => l["cpu"] !== undefined && l["memory"] !== undefined && same(requests[i], l));
  return whole ? "Guaranteed" : "Burstable";
}
