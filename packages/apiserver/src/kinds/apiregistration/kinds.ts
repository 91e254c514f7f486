import type { KubeObject } from "@causeway/kubernetes";
import { define, STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { forbiddenField, invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { at, isRecord, record, records, text } from "../../json/json.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** Where APIServices are stored. */
export const API_SERVICES = "apiregistration.k8s.io/apiservices";
const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** APIService (apiregistration.k8s.io/v1): a group and version that another server serves. */
export function apiServiceKinds(): Resource[] {
  return [
    define({
      group: "apiregistration.k8s.io",
      kind: "APIService",
      plural: "apiservices",
      categories: ["api-extensions"],
      clusterScoped: true,
      subresources: [STATUS],
      columns: [
        NAME,
        { name: "Service", cell: (object) => serviceText(object as unknown as KubeObject) },
        { name: "Available", cell: (object) => availableText(object as unknown as KubeObject) },
        AGE,
      ],
      strategy: {
        prepareCreate(draft) {
          draft["status"] = {};
        },
        applyDefaults(draft) {
          const service = at(draft, "spec", "service");
          if (isRecord(service)) service["port"] ??= 443;
          draft["status"] ??= {};
        },
        validate(object, _old, { subresource }) {
          return subresource === "status" ? [] : problems(object);
        },
      },
    }),
  ];
}

function serviceText(object: KubeObject): string {
  const service = at(object, "spec", "service");
  if (!isRecord(service)) return "Local";
  return `${text(service["namespace"])}/${text(service["name"])}`;
}

function availableText(object: KubeObject): string {
  const found = records(at(object, "status", "conditions")).find((condition) => condition["type"] === "Available");
  if (found === undefined) return "Unknown";
  return found["status"] === "True" ? "True" : `${text(found["status"])} (${text(found["reason"])})`;
}

/** Source: k8s.io/kube-aggregator, apiregistration/validation. */
function problems(object: KubeObject): FieldProblem[] {
  const spec = record(at(object, "spec"));
  const [group, version] = [text(spec["group"]), text(spec["version"])];
  const found: FieldProblem[] = [];
  const wanted = `${version}.${group}`;
  if (object.metadata.name !== wanted)
    found.push(
      invalidValue(
        "metadata.name",
        object.metadata.name,
        `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`,
      ),
    );
  if (group !== "" && (group.length > 253 || !SUBDOMAIN.test(group)))
    found.push(
      invalidValue(
        "spec.group",
        group,
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'",
      ),
    );
  if (version.length > 63 || !LABEL.test(version))
    found.push(
      invalidValue(
        "spec.version",
        version,
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      ),
    );
  for (const [field, most] of [
    ["groupPriorityMinimum", 20_000],
    ["versionPriority", 1_000],
  ] as const) {
    const value = spec[field];
    const isFine = typeof value === "number" && value > 0 && value <= most;
    if (!isFine) found.push(invalidValue(`spec.${field}`, value ?? 0, `must be positive and less than ${most}`));
  }
  return [...found, ...(isRecord(spec["service"]) ? remoteProblems(spec) : localProblems(spec))];
}

function localProblems(spec: Readonly<Record<string, unknown>>): FieldProblem[] {
  const found: FieldProblem[] = [];
  if (text(spec["caBundle"]) !== "")
    found.push(invalidValue("spec.caBundle", "", "local APIServices may not have a caBundle"));
  if (spec["insecureSkipTLSVerify"] === true)
    found.push(
      invalidValue("spec.insecureSkipTLSVerify", true, "local APIServices may not have insecureSkipTLSVerify"),
    );
  return found;
}

function remoteProblems(spec: Readonly<Record<string, unknown>>): FieldProblem[] {
  const service = record(spec["service"]);
  const found: FieldProblem[] = [];
  for (const field of ["namespace", "name"])
    if (text(service[field]) === "") found.push(required(`spec.service.${field}`));
  const { port } = service;
  if (typeof port !== "number" || port < 1 || port > 65_535)
    found.push(invalidValue("spec.service.port", port, "port is not valid: must be between 1 and 65535, inclusive"));
  if (spec["insecureSkipTLSVerify"] === true && text(spec["caBundle"]) !== "")
    found.push(forbiddenField("spec.insecureSkipTLSVerify", "may not be true if caBundle is present"));
  return found;
}
