import type { KubeObject } from "@causeway/kubernetes";
import { record, type Json } from "../json/json.ts";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import { apiVersionOf, inVersion, type Draft } from "../contract/resource.ts";
import { matchesLabels } from "../contract/selectors.ts";
import { notFound } from "../errors/status.ts";
import type { Attempt, GroupVersionKind } from "../contract/admission.ts";
import type { Form } from "./rules.ts";

const NAMESPACES = { group: "", plural: "namespaces" };

/** The name in the request, or that of the object it creates; "" where it is still to be made up. */
export function nameOf({ call, object, operation }: Attempt): string {
  return call.name || (operation === "CREATE" ? (object?.metadata.name ?? "") : "");
}

/** A namespace is in itself. */
export function namespaceOf(attempt: Attempt): string {
  const { resource, namespace } = attempt.call;
  return resource.storage === "/namespaces" ? nameOf(attempt) : namespace;
}

/** The namespace that the attempt happens in, undefined for what is in none. Throws 404. */
export function namespaceObject({ call }: Attempt): KubeObject | undefined {
  if (!call.resource.namespaced) return undefined;
  const { cluster, namespace } = call;
  const key = { cluster: cluster.name, resource: "/namespaces", namespace: "", name: namespace };
  const found = cluster.store.get(key)?.object;
  if (!found) throw notFound(NAMESPACES, namespace);
  return found;
}

/** Whether a namespaceSelector chooses it. What is in no namespace, and is none, is always chosen. */
export function inSelectedNamespace(selector: unknown, attempt: Attempt): boolean {
  if (isEmpty(selector)) return true;
  const isNamespace = attempt.call.resource.storage === "/namespaces";
  if (!attempt.call.resource.namespaced && !isNamespace) return true;
  return matchesLabels(selector, record(namespaceLabels(attempt, isNamespace)));
}

function namespaceLabels(attempt: Attempt, isNamespace: boolean): unknown {
  if (!isNamespace) return namespaceObject(attempt)?.metadata.labels;
  const { call, object, old } = attempt;
  return (call.subresource === "" && object ? object : (old ?? object))?.metadata.labels;
}

/**
 * Whether an objectSelector chooses the new or the old state. The options of a connection have no labels, and are not
 * chosen.
 */
export function isSelectedObject(selector: unknown, { object, old }: Attempt): boolean {
  if (isEmpty(selector)) return true;
  const chosen = (o: KubeObject | undefined): boolean =>
    o?.metadata !== undefined && matchesLabels(selector, record(o.metadata.labels));
  return chosen(object) || chosen(old);
}

function isEmpty(selector: unknown): boolean {
  const { matchLabels, matchExpressions } = record(selector);
  return (
    Object.keys(record(matchLabels)).length === 0 && (!Array.isArray(matchExpressions) || matchExpressions.length === 0)
  );
}

/** What the attempt's objects are in the given form. */
export function kindIn({ call, kind }: Attempt, { resource, version }: Form): GroupVersionKind {
  const isOwn = kind.kind === call.resource.kind && kind.group === call.resource.group;
  return isOwn ? { group: resource.group, version: version.name, kind: resource.kind } : kind;
}

/**
 * The attempt with its objects as another form shows them. Bodies of other kinds, such as Scale, remain as they are.
 */
export function inForm(attempt: Attempt, form: Form): MaybePromise<Attempt> {
  const { call, kind, object, old } = attempt;
  const isOwn = kind.kind === call.resource.kind && kind.group === call.resource.group;
  if (!isOwn || form.version === call.version) return attempt;
  return andThen(object && between(object, call, form), (newer) =>
    andThen(old && between(old, call, form), (older) => ({ ...attempt, object: newer, old: older })),
  );
}

/** An object in one form as another has it: a copy. */
export function between(object: KubeObject, from: Form, to: Form): MaybePromise<KubeObject> {
  if (from.version === to.version || object.kind !== from.resource.kind) return object;
  const apiVersion = apiVersionOf(to.resource.group, to.version.name);
  if (from.resource.forms) return from.resource.forms.converted(object, apiVersion);
  const draft = structuredClone(object) as Draft;
  const stored = from.version.toStored ? from.version.toStored(draft) : draft;
  return inVersion(to.resource, to.version, { ...stored, apiVersion: from.resource.storedAs });
}

/** authentication.k8s.io/v1 UserInfo. */
export function userInfoOf({ call: { user } }: Attempt): Json {
  const hasExtra = user.extra !== undefined && Object.keys(user.extra).length > 0;
  return {
    username: user.name,
    ...(user.uid ? { uid: user.uid } : {}),
    groups: [...user.groups],
    ...(hasExtra ? { extra: user.extra } : {}),
  };
}
