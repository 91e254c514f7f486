import { isIP } from "node:net";
import { at } from "../json/json.ts";
import { invalidValue, notSupported, required } from "../errors/problems.ts";
import {
  counted,
  holding,
  label,
  needed,
  oneOf,
  portNumber,
  share,
  someOf,
  subdomain,
  whereGiven,
  type FieldRule,
} from "./rules.ts";
import { scheduleFault, zoneFault } from "./schedule.ts";

/*
 * What kube-apiserver refuses of kinds that are kept here: required fields, values of enumerations, bounds and names.
 * Source: Kubernetes API reference, field by field.
 */

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const PROTOCOLS = ["TCP", "UDP", "SCTP"];

function cidr(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const [address = "", bits = ""] = String(value as string).split("/");
  const isNetwork = isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
  const why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  return isNetwork ? [] : [invalidValue(field, value ?? "", why)];
}

function domainPath(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const why = 'must be a domain-prefixed path (such as "acme.io/foo")';
  return /^[a-z0-9.-]+\/[A-Za-z0-9/._-]+$/.test(String(value as string)) ? [] : [invalidValue(field, value, why)];
}

function absolute(value: unknown, field: string): ReturnType<FieldRule[1]> {
  return String(value as string).startsWith("/") ? [] : [invalidValue(field, value, "must be an absolute path")];
}

const PEERS = ["podSelector", "namespaceSelector", "ipBlock"];
const peer = holding(PEERS, (field) => required(field, "must specify a peer"));

export const POLICY_RULES: readonly FieldRule[] = [
  ["spec.ingress[].ports[].protocol", oneOf(...PROTOCOLS)],
  ["spec.ingress[].ports[].port", portNumber],
  ["spec.ingress[].from[]", peer],
  ["spec.ingress[].from[].ipBlock.cidr", cidr],
  ["spec.egress[].ports[].protocol", oneOf(...PROTOCOLS)],
  ["spec.egress[].ports[].port", portNumber],
  ["spec.egress[].to[]", peer],
  ["spec.egress[].to[].ipBlock.cidr", cidr],
  ["spec.policyTypes[]", oneOf("Ingress", "Egress")],
];

const BACKEND = "either `defaultBackend` or `rules` must be specified";

export const INGRESS_RULES: readonly FieldRule[] = [
  ["spec", holding(["defaultBackend", "rules"], (field) => invalidValue(field, null, BACKEND))],
  ["spec.rules[].http.paths", needed()],
  ["spec.rules[].http.paths[].path", whereGiven(absolute)],
  ["spec.rules[].http.paths[].pathType", needed("pathType must be specified")],
];

export const INGRESS_CLASS_RULES: readonly FieldRule[] = [
  ["spec.controller", needed()],
  ["spec.controller", whereGiven(domainPath)],
];

export const BUDGET_RULES: readonly FieldRule[] = [
  ["spec.minAvailable", share],
  ["spec.maxUnavailable", share],
  ["spec.unhealthyPodEvictionPolicy", oneOf("AlwaysAllow", "IfHealthyBudget")],
];

export const STORAGE_CLASS_RULES: readonly FieldRule[] = [
  ["provisioner", needed()],
  ["reclaimPolicy", oneOf("Delete", "Retain")],
  ["volumeBindingMode", oneOf("Immediate", "WaitForFirstConsumer")],
];

export const CSI_DRIVER_RULES: readonly FieldRule[] = [
  ["spec.fsGroupPolicy", oneOf("File", "None", "ReadWriteOnceWithFSType")],
];

export const CSI_NODE_RULES: readonly FieldRule[] = [
  ["spec.drivers[].name", needed()],
  ["spec.drivers[].name", subdomain],
  ["spec.drivers[].nodeID", needed()],
];

export const CAPACITY_RULES: readonly FieldRule[] = [["storageClassName", subdomain]];

export const ATTRIBUTES_RULES: readonly FieldRule[] = [
  ["driverName", needed()],
  ["parameters", needed("must contain at least one key/value pair")],
];

export const RUNTIME_RULES: readonly FieldRule[] = [["handler", label]];

export const REVISION_RULES: readonly FieldRule[] = [
  ["data", needed("data is mandatory")],
  ["revision", counted],
];

export const TEMPLATE_RULES: readonly FieldRule[] = [["template.spec.containers", needed()]];

const SCHEDULE = needed();

export const CRON_RULES: readonly FieldRule[] = [
  ["spec.schedule", SCHEDULE],
  ["spec.schedule", whereGiven(schedule)],
  ["spec.timeZone", zone],
  ["spec.startingDeadlineSeconds", counted],
  ["spec.concurrencyPolicy", oneOf("Allow", "Forbid", "Replace")],
  ["spec.successfulJobsHistoryLimit", counted],
  ["spec.failedJobsHistoryLimit", counted],
  ["spec.jobTemplate.spec.manualSelector", noSelector],
];

function schedule(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const text = String(value as string);
  const zoned = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
  const fault = text.includes("TZ") ? zoned : scheduleFault(text);
  return fault === undefined ? [] : [invalidValue(field, value, fault)];
}

function zone(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const fault = typeof value === "string" ? zoneFault(value) : undefined;
  return fault === undefined ? [] : [invalidValue(field, value, fault)];
}

function noSelector(value: unknown, field: string): ReturnType<FieldRule[1]> {
  return value === true ? [notSupported(field, true, ["nil", "false"])] : [];
}

export const SLICE_RULES: readonly FieldRule[] = [
  ["addressType", someOf("FQDN", "IPv4", "IPv6")],
  ["endpoints[].addresses", needed("must contain at least 1 address")],
  ["ports[].name", whereGiven(label)],
];

/** An error about modes shows the whole list, not a single mode. */
function modeRule(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const modes = Array.isArray(value) ? (value as unknown[]) : [];
  return modes.flatMap((mode) => oneOf(...ACCESS_MODES)(mode, field));
}

export const CLAIM_RULES: readonly FieldRule[] = [
  ["spec.accessModes", needed("at least 1 access mode is required")],
  ["spec.accessModes", modeRule],
  ["spec.resources", storageRule],
];

/** A claim asks for something. */
function storageRule(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const size = at(value, "requests", "storage");
  const asked = `${field}[storage]`;
  if (size === undefined) return [required(asked)];
  const isNothing = /^(-|0$)/.test(String(size as string));
  return isNothing ? [invalidValue(asked, size, "must be greater than zero")] : [];
}

export const PRIORITY_RULES: readonly FieldRule[] = [["preemptionPolicy", oneOf("PreemptLowerPriority", "Never")]];
