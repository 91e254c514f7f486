import type { KubeObject } from "@causeway/kubernetes";
import type { Extension } from "../contract/aggregation.ts";
import { at, isRecord, record, records, text } from "../json/json.ts";

/** What an APIService says; undefined: it is one of this server's own groups. */
export function extensionOf(object: KubeObject): Extension | undefined {
  const spec = record(at(object, "spec"));
  if (!isRecord(spec["service"])) return undefined;
  const { namespace, name, port } = spec["service"];
  const bundle = text(spec["caBundle"]);
  return {
    name: object.metadata.name,
    group: text(spec["group"]),
    version: text(spec["version"]),
    groupPriority: numberOf(spec["groupPriorityMinimum"]),
    versionPriority: numberOf(spec["versionPriority"]),
    service: { namespace: text(namespace), name: text(name), port: numberOf(port) || 443 },
    authority: bundle === "" ? undefined : Buffer.from(bundle, "base64").toString("utf8"),
    insecure: spec["insecureSkipTLSVerify"] === true,
    available: records(at(object, "status", "conditions")).some(
      (condition) => condition["type"] === "Available" && condition["status"] === "True",
    ),
  };
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** Groups and versions with higher numbers come first; of equal ones, by name. */
export function byPriority(a: Extension, b: Extension): number {
  return (
    b.groupPriority - a.groupPriority ||
    a.group.localeCompare(b.group) ||
    b.versionPriority - a.versionPriority ||
    a.version.localeCompare(b.version)
  );
}
