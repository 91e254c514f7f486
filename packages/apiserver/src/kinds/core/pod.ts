import { admitLimits } from "../../admission/builtin/limits.ts";
import { podQosClass } from "../../admission/builtin/pod-qos.ts";
import { admitTolerations } from "../../admission/builtin/tolerations.ts";
import { mutatePod } from "../../admission/builtin/pods.ts";
import type { KubeObject } from "@causeway/kubernetes";
import { at, copied, fields, isRecord, record, records, timestamp, type Json } from "../../json/json.ts";
import { forbiddenField } from "../../errors/problems.ts";
import { imageProblems } from "./pods/containers.ts";
import { newPodProblems, podSpecProblems } from "./pods/spec.ts";
import { keepObserved, statusProblems } from "./pods/status.ts";
import { updateProblems } from "./pods/updates.ts";
import { addressWarnings, nameWarnings, podWarnings } from "./pods/warnings.ts";
import {
  ephemeralUpdateProblems,
  isResizable,
  keepButEphemeral,
  keepButResources,
  resizeProblems,
} from "./pods/subresources.ts";
import type { Draft, Strategy } from "../../contract/resource.ts";

/** Pods are kept, filled in and checked as far as a cluster without kubelets needs; nothing runs them here. */
export const podStrategy: Strategy = {
  mutate: mutatePod,
  admit(object, old, context) {
    admitLimits(object, old, context);
    if (context.subresource === "status") {
      for (const message of addressWarnings(record(fields(object)["status"]))) context.warn(message);
    }
    if (old !== undefined) return;
    const names = nameWarnings(object.metadata.name, "the Pod's hostname");
    for (const message of [...names, ...podWarnings(fields(object), "")]) context.warn(message);
  },
  read: pairAddresses,
  prepareCreate(draft, { cluster }) {
    const gates = records(record(draft["spec"])["schedulingGates"]);
    const waits = gates.length > 0 ? { conditions: [gated(timestamp(cluster.clock.now()))] } : {};
    draft["status"] = { phase: "Pending", ...waits, qosClass: podQosClass(record(draft["spec"])) };
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
      const problems = resizeProblems(spec, was, podQosClass);
      return isResizable(fields(old)["status"]) ? problems : [...problems, without];
    }
    if (subresource === "status" && old) return statusProblems(object, old);
    if (subresource) return [];
    const problems = [...podSpecProblems(spec, "spec"), ...imageProblems(spec, "spec")];
    return old ? [...problems, ...updateProblems(spec, was)] : [...problems, ...newPodProblems(spec, "spec")];
  },
};

/**
 * The first of a pod's addresses is there by itself, too: who says one of the two says the other, and where both differ
 * the one counts.
 */
function pairAddresses(draft: Draft): void {
  const status = draft["status"];
  if (!isRecord(status)) return;
  const [first] = records(status["podIPs"]);
  const { podIP } = status;
  if (podIP === undefined && first?.["ip"] !== undefined) status["podIP"] = first["ip"];
  else if (podIP !== undefined && podIP !== first?.["ip"]) status["podIPs"] = [{ ip: podIP }];
}

/** Who writes a status changes neither the spec nor the owners, and cannot remove the QoS class. */
function keepButStatus(draft: Draft, old: KubeObject): void {
  draft["spec"] = copied(fields(old)["spec"]);
  if (old.metadata.ownerReferences) draft.metadata.ownerReferences = old.metadata.ownerReferences;
  else delete draft.metadata.ownerReferences;
  const qosClass = at(old, "status", "qosClass");
  const status = { ...(qosClass === undefined ? {} : { qosClass }), ...record(draft["status"]) };
  draft["status"] = status;
  keepObserved(status, record(fields(old)["status"]));
}

/** What admission gave a pod remains when a writer leaves it out. */
function keepAdmitted(draft: Draft, was: Json): void {
  const spec = record(draft["spec"]);
  for (const name of ["priority", "preemptionPolicy"]) if (was[name] !== undefined) spec[name] ??= was[name];
  admitTolerations(draft);
}

/** What a pod says that waits for others to let it be placed. */
function gated(now: string): Json {
  const message = "Scheduling is blocked due to non-empty scheduling gates";
  return {
    type: "PodScheduled",
    status: "False",
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: "SchedulingGated",
    message,
  };
}
