import type { KubeObject } from "@causeway/kubernetes";
import { array, at, fields, record, records, text, texts, type Json } from "../../json/json.ts";
import { podQosClass } from "../builtin/pod-qos.ts";
import type { Resource } from "../../contract/resource.ts";

/** Whether a quota is about this object: one with scopes is about pods, or claims, that are in all of them. */
export function inScopes(quota: KubeObject, resource: Resource, object: KubeObject): boolean {
  const spec = record(fields(quota)["spec"]);
  const selectors: Json[] = [
    ...texts(spec["scopes"]).map((scopeName) => ({ scopeName, operator: "Exists" })),
    ...records(at(spec, "scopeSelector", "matchExpressions")),
  ];
  if (selectors.length === 0) return true;
  if (resource.storage === "/persistentvolumeclaims") return selectors.every((one) => hasClass(one, object));
  return resource.storage === "/pods" && selectors.every((selector) => matches(selector, object));
}

/** Whether one of the classes that a claim has, had or is to have is among those that are selected. */
function hasClass(selector: Json, claim: KubeObject): boolean {
  if (selector["scopeName"] !== "VolumeAttributesClass") return false;
  const { spec, status } = fields(claim) as { spec?: unknown; status?: unknown };
  const names = [
    at(spec, "volumeAttributesClassName"),
    at(status, "currentVolumeAttributesClassName"),
    at(status, "modifyVolumeStatus", "targetVolumeAttributesClassName"),
  ].filter((name) => typeof name === "string" && name !== "");
  const chosen = names.length > 0 ? names : [""];
  return chosen.some((name) => isSelected(selector, text(name)));
}

function matches(selector: Json, pod: KubeObject): boolean {
  const spec = record(fields(pod)["spec"]);
  const terminating = isTerminating(pod);
  const bestEffort = podQosClass(spec) === "BestEffort";
  switch (selector["scopeName"]) {
    case "Terminating":
      return terminating;
    case "NotTerminating":
      return !terminating;
    case "BestEffort":
      return bestEffort;
    case "NotBestEffort":
      return !bestEffort;
    case "PriorityClass":
      return isSelected(selector, text(spec["priorityClassName"]));
    case "CrossNamespacePodAffinity":
      return crossesNamespaces(spec);
    default:
      return false;
  }
}

/** A pod that has a deadline. */
export function isTerminating(pod: KubeObject): boolean {
  const deadline = record(fields(pod)["spec"])["activeDeadlineSeconds"];
  return typeof deadline === "number" && deadline >= 0;
}

function isSelected({ operator, values }: Json, name: string): boolean {
  switch (operator) {
    case "In":
      return name !== "" && texts(values).includes(name);
    case "NotIn":
      return !texts(values).includes(name);
    case "DoesNotExist":
      return name === "";
    default:
      return name !== "";
  }
}

function crossesNamespaces(spec: Json): boolean {
  const terms = ["podAffinity", "podAntiAffinity"].flatMap((kind) => {
    const affinity = record(at(spec, "affinity", kind));
    return [
      ...records(affinity["requiredDuringSchedulingIgnoredDuringExecution"]),
      ...records(affinity["preferredDuringSchedulingIgnoredDuringExecution"]).map((p) => record(p["podAffinityTerm"])),
    ];
  });
  return terms.some((t) => array(t["namespaces"]).length > 0 || (t["namespaceSelector"] ?? undefined) !== undefined);
}
