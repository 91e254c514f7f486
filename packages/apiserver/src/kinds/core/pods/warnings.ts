import { canonicalIp } from "@causeway/foundation";
import { array, at, isRecord, record, records, text, type Json } from "../../../json/json.ts";
import { labelFaults } from "../../../syntax/dns.ts";
import { canonicalQuantity, nanosOf } from "../../../syntax/quantity.ts";
import { neighbourWarnings, nodeWarnings } from "./placement-warnings.ts";
import { portWarnings } from "./port-warnings.ts";
import { volumeWarnings } from "./volume-warnings.ts";

/*
 * What is odd about a pod, and accepted nevertheless; in kube-apiserver's words. Source: Kubernetes API reference,
 * PodSpec; "Warnings" of the API.
 */

const GROUPS = ["initContainers", "containers"];
const DEPRECATED_ANNOTATIONS: Readonly<Record<string, string>> = {
  "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
  "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
  "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
};
const SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead';

/** A pod, or a template of one: `path` is "" or ends with a dot. */
export function podWarnings(pod: Json, path: string): string[] {
  const spec = record(pod["spec"]);
  const annotations = record(at(pod, "metadata", "annotations"));
  const place = `${path}spec`;
  return [
    ...nodeWarnings(spec, place),
    ...annotationWarnings(annotations, path),
    ...volumeWarnings(records(spec["volumes"]), `${place}.volumes`),
    ...twice(spec["hostAliases"], "ip", `${place}.hostAliases`),
    ...twice(spec["imagePullSecrets"], "name", `${place}.imagePullSecrets`),
    ...namelessWarnings(spec, place),
    ...amountWarnings(spec["overhead"], `${place}.overhead`),
    ...(at(spec, "securityContext", "seccompProfile") === undefined
      ? annotated(annotations, "seccomp.security.alpha.kubernetes.io/pod", path)
      : []),
    ...GROUPS.flatMap((group) =>
      records(spec[group]).flatMap((container, i) => [
        ...profileWarnings(container, annotations, path),
        ...containerWarnings(container, `${place}.${group}[${i}]`),
      ]),
    ),
    ...portWarnings(spec, place),
    ...graceWarnings(spec, place),
    ...neighbourWarnings(spec, place),
    ...array(at(spec, "dnsConfig", "nameservers")).flatMap((ip, i) =>
      addressForm(ip, `${place}.dnsConfig.nameservers[${i}]`),
    ),
    ...records(spec["hostAliases"]).flatMap(({ ip }, i) => addressForm(ip, `${place}.hostAliases[${i}].ip`)),
  ];
}

/** Addresses in a pod's status that are written in an unusual way. */
export function addressWarnings(status: Json): string[] {
  return ["podIPs", "hostIPs"].flatMap((name) =>
    records(status[name]).flatMap(({ ip }, i) => addressForm(ip, `status.${name}[${i}].ip`)),
  );
}

function addressForm(value: unknown, field: string): string[] {
  const canonical = canonicalIp(text(value));
  if (canonical === undefined || canonical === value) return [];
  const shown = JSON.stringify(text(value));
  return [`${field}: IPv6 address ${shown} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`];
}

/** A name from which those of pods and hosts are made. */
export function nameWarnings(name: string, where: string): string[] {
  const faults = labelFaults(name);
  if (faults.length === 0) return [];
  const why = "which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: this is used in ${where}, ${why}: [${faults.join(" ")}]`];
}

function annotationWarnings(annotations: Json, path: string): string[] {
  return Object.entries(DEPRECATED_ANNOTATIONS)
    .filter(([key]) => annotations[key] !== undefined)
    .map(([key, why]) => `${path}metadata.annotations[${key}]: ${why}`);
}

function annotated(annotations: Json, key: string, path: string): string[] {
  return annotations[key] === undefined ? [] : [`${path}metadata.annotations[${key}]: ${SECCOMP}`];
}

function profileWarnings(container: Json, annotations: Json, path: string): string[] {
  const key = `container.seccomp.security.alpha.kubernetes.io/${text(container["name"])}`;
  return at(container, "securityContext", "seccompProfile") === undefined ? annotated(annotations, key, path) : [];
}

function twice(items: unknown, name: string, field: string): string[] {
  const seen = new Set<string>();
  return records(items).flatMap((item, i) => {
    const value = text(item[name]);
    const isKnown = seen.has(value);
    seen.add(value);
    return isKnown ? [`${field}[${i}].${name}: duplicate ${name} ${JSON.stringify(value)}`] : [];
  });
}

function namelessWarnings(spec: Json, path: string): string[] {
  return records(spec["imagePullSecrets"]).flatMap(({ name }, i) =>
    text(name) === "" ? [`${path}.imagePullSecrets[${i}].name: invalid empty name ""`] : [],
  );
}

const BYTES = ["memory", "ephemeral-storage"];

/** Of bytes there are no parts. */
function amountWarnings(amounts: unknown, field: string): string[] {
  return BYTES.flatMap((name) => {
    const amount = record(amounts)[name];
    const nanos = amount === undefined ? 0n : (nanosOf(amount) ?? 0n);
    if (nanos % 1_000_000_000n === 0n) return [];
    const shown = JSON.stringify(canonicalQuantity(amount, -3));
    return [`${field}[${name}]: fractional byte value ${shown} is invalid, must be an integer`];
  });
}

function containerWarnings(container: Json, field: string): string[] {
  const { limits, requests } = record(container["resources"]);
  const bytes = BYTES.flatMap((name) =>
    [
      { amounts: limits, of: "limits" },
      { amounts: requests, of: "requests" },
    ].flatMap(({ amounts, of }) => amountWarnings({ [name]: record(amounts)[name] }, `${field}.resources.${of}`)),
  );
  return [...bytes, ...environmentWarnings(container, field)];
}

/** A variable that is given again without a word of what it was. */
function environmentWarnings(container: Json, field: string): string[] {
  const seen = new Set<string>();
  return records(container["env"]).flatMap((variable, i) => {
    const name = text(variable["name"]);
    const isKnown = seen.has(name);
    seen.add(name);
    const reference = `$(${name})`;
    const value = text(variable["value"]);
    const keeps = !isRecord(variable["valueFrom"]) && value !== reference && value.includes(reference);
    if (!isKnown || keeps) return [];
    const shown = JSON.stringify(name);
    return [`${field}.env[${i}]: hides previous definition of ${shown}, which may be dropped when using apply`];
  });
}

function graceWarnings({ terminationGracePeriodSeconds: grace }: Json, path: string): string[] {
  if (typeof grace !== "number" || grace >= 0) return [];
  return [`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`];
}
