import { isRecord, record, records, scalar, text, type Json } from "../../../json/json.ts";
import { invalidValue, notSupported, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { dnsName, each, given, type Problems } from "../../shared/checks.ts";

/*
 * Environments, and the fields of a pod or a container that they may expose. Source: Kubernetes, "Downward API"; API
 * reference, Container.
 */

const NAME_RULE = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const EXPOSED = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const EXPOSED_AS_FILES = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];
const KNOWN = new Set([...EXPOSED, ...EXPOSED_AS_FILES, "spec.restartPolicy", "spec.schedulerName", "status.phase"]);
const RESOURCES = ["limits", "requests"].flatMap((w) => ["cpu", "ephemeral-storage", "memory"].map((r) => `${w}.${r}`));

/** What is wrong with the name of an environment variable. */
export function variableNameProblems(field: string, name: string): FieldProblem[] {
  return /^[ -<>-~]+$/.test(name) ? [] : [invalidValue(field, name, NAME_RULE)];
}

/** What is wrong with a key of a ConfigMap or a Secret. */
export function keyFaults(key: string): string[] {
  if (key === "." || key === "..") return [`must not be '${key}'`];
  return /^[-._a-zA-Z0-9]+$/.test(key) ? [] : [KEY_RULE];
}

/** A fieldRef in an environment, or in a file. */
export function fieldRefProblems(ref: unknown, field: string, inFile = false): FieldProblem[] {
  const path = text(record(ref)["fieldPath"]);
  const at = `${field}.fieldPath`;
  if (path === "") return [required(at)];
  const key = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(path);
  if (key) return [];
  if (!KNOWN.has(path)) {
    return [invalidValue(at, path, `error converting fieldPath: field label not supported: ${path}`)];
  }
  const allowed = inFile ? EXPOSED_AS_FILES : EXPOSED;
  return allowed.includes(path) ? [] : [notSupported(at, path, allowed)];
}

/** A file's resourceFieldRef says of which container it speaks. */
export function resourceRefProblems(ref: unknown, field: string, inFile = false): FieldProblem[] {
  const { resource, containerName, divisor } = record(ref);
  const name = text(resource);
  if (inFile && !text(containerName)) return [required(`${field}.containerName`)];
  if (name === "") return [required(`${field}.resource`)];
  const isHuge = /^(limits|requests)\.hugepages-/.test(name);
  if (!isHuge && !RESOURCES.includes(name)) return [notSupported(`${field}.resource`, name, RESOURCES)];
  return divisorProblems(field, name, scalar(divisor));
}

const CPU = ["1m", "1"];
const DECIMAL = ["1", "1k", "1M", "1G", "1T", "1P", "1E"];
const BINARY = ["1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

function divisorProblems(field: string, name: string, divisor: string): FieldProblem[] {
  if (divisor === "" || divisor === "0") return [];
  const resource = name.slice(name.indexOf(".") + 1);
  const allowed = resource === "cpu" ? CPU : [...DECIMAL, ...BINARY];
  if (allowed.includes(divisor)) return [];
  const shown =
    resource === "cpu"
      ? "1m and 1 are supported with the cpu"
      : `${[...DECIMAL, ...BINARY].slice(0, -1).join(", ")}, ${BINARY.at(-1) ?? ""} are supported with the ${resource.startsWith("huge") ? "hugepages" : resource === "memory" ? "memory" : "local ephemeral storage"}`;
  return [invalidValue(`${field}.divisor`, name, `only divisor's values ${shown} resource`)];
}

function keyRefProblems(ref: unknown, field: string): FieldProblem[] {
  const { name, key } = record(ref);
  const of = dnsName(`${field}.name`, text(name));
  if (!text(key)) return [...of, required(`${field}.key`)];
  return [...of, ...keyFaults(text(key)).map((why) => invalidValue(`${field}.key`, text(key), why))];
}

const SOURCES: Readonly<Record<string, (ref: unknown, field: string) => Problems>> = {
  fieldRef: fieldRefProblems,
  resourceFieldRef: resourceRefProblems,
  configMapKeyRef: keyRefProblems,
  secretKeyRef: keyRefProblems,
};

function sourceProblems(variable: Json, field: string): FieldProblem[] {
  const from = variable["valueFrom"];
  if (!isRecord(from)) return [];
  const names = Object.keys(SOURCES).filter((name) => given(from, name));
  const problems = names.flatMap((name) => SOURCES[name]?.(from[name], `${field}.${name}`) ?? []);
  const one = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`";
  if (names.length === 0) return [invalidValue(field, "", one)];
  if (text(variable["value"])) {
    return [...problems, invalidValue(field, "", "may not be specified when `value` is not empty")];
  }
  if (names.length === 1) return problems;
  return [...problems, invalidValue(field, "", "may not have more than one field specified at a time")];
}

/** What is wrong with `env` and `envFrom` of a container. */
export function environmentProblems(container: Json, field: string): FieldProblem[] {
  const own = each(`${field}.env`, container["env"], (variable, at) => {
    const name = text(variable["name"]);
    const named = name === "" ? [required(`${at}.name`)] : variableNameProblems(`${at}.name`, name);
    return [...named, ...sourceProblems(variable, `${at}.valueFrom`)];
  });
  const from = `${field}.envFrom`;
  return [...own, ...records(container["envFrom"]).flatMap((source, i) => wholeProblems(source, from, i))];
}

/** Everything of a ConfigMap or Secret. */
function wholeProblems(source: Json, field: string, index: number): FieldProblem[] {
  const at = `${field}[${index}]`;
  const prefix = text(source["prefix"]);
  const problems = prefix === "" ? [] : variableNameProblems(`${at}.prefix`, prefix);
  const refs = ["configMapRef", "secretRef"].filter((name) => given(source, name));
  for (const ref of refs) if (!text(record(source[ref])["name"])) problems.push(required(`${at}.${ref}.name`));
  if (refs.length === 0) problems.push(invalidValue(field, "", "must specify one of: `configMapRef` or `secretRef`"));
  if (refs.length > 1) {
    problems.push(invalidValue(field, "", "may not have more than one field specified at a time"));
  }
  return problems;
}
