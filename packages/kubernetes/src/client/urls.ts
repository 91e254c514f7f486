import { CausewayError } from "@causeway/foundation";
import type { KubeObject, ObjectKey, ResourceType } from "../types/meta.ts";

/** "v1" or "apps/v1". */
export function apiVersionOf<T extends KubeObject>(type: ResourceType<T>): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/** The path of a collection. An empty namespace means all namespaces. */
export function collectionPath<T extends KubeObject>(type: ResourceType<T>, namespace = ""): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${scope}/${type.plural}`;
}

/** The path of one object, or of a subresource of it. */
export function objectPath<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, subresource?: string): string {
  requireNamespace(type, key.namespace);
  if (key.name === "") {
    throw new CausewayError("KUBERNETES_NAME_REQUIRED", `a ${type.kind} was requested without a name`, {
      hint: "Specify the object's metadata.name.",
    });
  }
  const path = `${collectionPath(type, key.namespace)}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Without a namespace, the path of a namespaced object would name something else. */
export function requireNamespace<T extends KubeObject>(type: ResourceType<T>, namespace: string | undefined): void {
  if (type.namespaced && !namespace) {
    throw new CausewayError("KUBERNETES_NAMESPACE_REQUIRED", `${type.kind} is namespaced, but no namespace was given`, {
      hint: "Set metadata.namespace.",
    });
  }
}

/** A query string with its "?", or nothing. Undefined values are left out. */
export function queryString(values: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") query.append(name, value);
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
