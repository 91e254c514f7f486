import type { KubeObject } from "@causeway/kubernetes";
import { record, text } from "../../json/json.ts";
import { seenAll, type Served } from "../../contract/resource.ts";
import { matchesLabels } from "../../contract/selectors.ts";
import { namespaceOf } from "../attributes.ts";
import type { Attempt } from "../../contract/admission.ts";
import type { Binding, ParamKind } from "./read.ts";

/** The resource that a paramKind names. Throws an Error that says it is not known. */
export function paramResource({ call }: Attempt, { apiVersion, kind }: ParamKind): Served {
  const slash = apiVersion.indexOf("/");
  const [group, name] = slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const resource = call.cluster.catalog.byKind(group, kind);
  const version = resource?.versions.find((v) => v.name === name);
  if (!resource || !version) {
    const type = `${group ? `${group}/` : ""}${name}, Kind=${kind}`;
    throw new Error(`failed to find resource referenced by paramKind: '${type}'`);
  }
  return { resource, version };
}

/**
 * The parameters with which a binding has its policy judge; one that is undefined where it has none. Throws an Error
 * that says why it cannot.
 */
export async function paramsOf(
  attempt: Attempt,
  paramKind: ParamKind | undefined,
  { paramRef }: Binding,
): Promise<readonly (KubeObject | undefined)[]> {
  if (!paramKind || !paramRef) return [undefined];
  const served = paramResource(attempt, paramKind);
  const namespace = namespaceOfParams(attempt, served, text(paramRef["namespace"]));
  const found = lookUp(attempt, served, { paramRef, namespace });
  if (found.length === 0 && paramRef["parameterNotFoundAction"] === "Deny") {
    throw new Error("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return seenAll(served, found);
}

function namespaceOfParams(attempt: Attempt, { resource }: Served, given: string): string {
  if (!resource.namespaced) {
    if (given) throw new Error("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
    return "";
  }
  const namespace = given || namespaceOf(attempt);
  if (namespace) return namespace;
  throw new Error("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
}

function lookUp(
  { call }: Attempt,
  { resource }: Served,
  { paramRef, namespace }: { paramRef: Record<string, unknown>; namespace: string },
): readonly KubeObject[] {
  const { store, name: cluster } = call.cluster;
  const name = text(paramRef["name"]);
  if (name) {
    const one = store.get({ cluster, resource: resource.storage, namespace, name });
    return one ? [one.object] : [];
  }
  return store
    .list({ cluster, resource: resource.storage, namespace })
    .items.map(({ object }) => object)
    .filter((object) => matchesLabels(paramRef["selector"], record(object.metadata.labels)));
}
