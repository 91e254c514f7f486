import type { Json } from "../interface.ts";
import type { Choices } from "./choices.ts";
import { corrupted, fragment } from "./corrupt.ts";
import { jsonPatch, strategicPatch } from "./patches.ts";
import { metadata, type Subject } from "./subject.ts";

export type Revision = "none" | "current" | "stale" | "bogus";

/** One request that both servers get, except for what depends on earlier responses. */
export interface Operation {
  readonly verb: "create" | "get" | "list" | "update" | "patch" | "delete" | "deletecollection";
  readonly subject: Subject;
  readonly name: string;
  readonly subresource?: "status" | "scale";
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly patch?: "json" | "merge" | "strategic" | "apply";
  /** The resourceVersion in a written object, in preconditions, or that a list requests. */
  readonly revision?: Revision;
  /** The body is laid over the object as it was last seen. */
  readonly overLive?: boolean;
  readonly generateName?: boolean;
  /** Preconditions of a deletion also name the uid. */
  readonly uid?: "current" | "bogus";
}

const MANAGERS: readonly [string, ...string[]] = ["one", "two", "three", "kubectl"];

/** One of the general operations. */
export function operation(c: Choices, subject: Subject): Operation {
  const name = c.pick(subject.names ?? ["a", "b", "c"]);
  const make = c.pick([
    create,
    create,
    update,
    merge,
    json,
    get,
    list,
    remove,
    status,
    create,
    update,
    strategic,
    merge,
    scale,
    applied,
    remove,
    list,
    clear,
  ]);
  return make(c, { subject, name, query: {} });
}

/** One of the operations around server-side apply. */
export function applyOperation(c: Choices, subject: Subject): Operation {
  const name = c.chance(12) ? "b" : "a";
  const make = c.pick([
    applied,
    applied,
    applied,
    update,
    applied,
    merge,
    applied,
    appliedStatus,
    applied,
    json,
    applied,
    update,
    applied,
    status,
    applied,
    strategic,
    applied,
    remove,
    applied,
    get,
  ]);
  return make(c, { subject, name, query: {} });
}

type Target = Pick<Operation, "subject" | "name" | "query">;

/** A whole object; `name` is put in when it is sent. */
export function objectOf(c: Choices, subject: Subject, more: Json = {}): Json {
  const { kind, apiVersion } = subject;
  const body = { apiVersion, kind, metadata: metadata(c), ...subject.body(c), ...more };
  return c.chance(10) ? corrupted(c, body) : body;
}

function options(c: Choices): Record<string, string> {
  return {
    ...(c.chance(7) ? { dryRun: c.chance(10) ? "Some" : "All" } : {}),
    ...(c.chance(25) ? { fieldValidation: c.pick(["Strict", "Warn", "Ignore", "Strict", "Some"]) } : {}),
    ...(c.chance(40) ? { fieldManager: c.pick(MANAGERS) } : {}),
  };
}

function create(c: Choices, target: Target): Operation {
  const { subject } = target;
  const extra = subject.status && c.chance(10) ? { status: subject.status(c) } : {};
  const body = objectOf(c, subject, extra);
  const generateName = c.chance(8);
  return { ...target, verb: "create", query: options(c), body, ...(generateName ? { generateName } : {}) };
}

function get(_: Choices, target: Target): Operation {
  return { ...target, verb: "get" };
}

function update(c: Choices, target: Target): Operation {
  const revision = c.pick<Revision>(["none", "current", "current", "stale", "current", "bogus"]);
  const overLive = c.chance(60);
  const object = objectOf(c, target.subject);
  const body = overLive && c.chance(50) ? { ...object, ...fragmentOf(c, object) } : object;
  if (c.chance(4)) ((body["metadata"] as Json | null | undefined) ?? {})["managedFields"] = c.pick<unknown>([[{}], []]);
  return { ...target, verb: "update", query: options(c), body, revision, overLive };
}

function fragmentOf(c: Choices, object: Json): Json {
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  return fragment(c, rest, false) as Json;
}

function merge(c: Choices, target: Target): Operation {
  const { apiVersion: _version, kind: _kind, ...rest } = objectOf(c, target.subject);
  const body = fragment(c, rest, true);
  return { ...target, verb: "patch", patch: "merge", query: options(c), body, ...pinned(c) };
}

function strategic(c: Choices, target: Target): Operation {
  const { apiVersion: _version, kind: _kind, ...rest } = objectOf(c, target.subject);
  return {
    ...target,
    verb: "patch",
    patch: "strategic",
    query: options(c),
    body: strategicPatch(c, rest),
    ...pinned(c),
  };
}

function pinned(c: Choices): Pick<Operation, "revision"> {
  return c.chance(15) ? { revision: c.pick<Revision>(["current", "stale", "bogus"]) } : {};
}

function json(c: Choices, target: Target): Operation {
  const body = jsonPatch(c, objectOf(c, target.subject));
  return { ...target, verb: "patch", patch: "json", query: options(c), body };
}

function status(c: Choices, target: Target): Operation {
  const { subject } = target;
  if (!subject.status || !subject.subresources.includes("status")) return merge(c, target);
  const { kind, apiVersion } = subject;
  const value = { status: subject.status(c), ...(c.chance(20) ? { metadata: metadata(c), ...subject.body(c) } : {}) };
  const about = { ...target, subresource: "status" as const, query: options(c) };
  if (c.chance(50))
    return {
      ...about,
      verb: "patch",
      patch: c.pick(["merge", "strategic", "json"]) === "merge" ? "merge" : "strategic",
      body: value,
    };
  const body = { apiVersion, kind, metadata: {}, ...value };
  return {
    ...about,
    verb: "update",
    body,
    revision: c.pick<Revision>(["none", "current", "stale"]),
    overLive: c.chance(70),
  };
}

function scale(c: Choices, target: Target): Operation {
  if (!target.subject.subresources.includes("scale")) return get(c, target);
  const replicas = c.pick<unknown>([1, 2, 0, 5, -1, "x"]);
  const about = { ...target, subresource: "scale" as const, query: options(c) };
  if (c.chance(25)) return { ...target, subresource: "scale", verb: "get" };
  if (c.chance(50)) return { ...about, verb: "patch", patch: "merge", body: { spec: { replicas } } };
  const body = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: {}, spec: { replicas } };
  return { ...about, verb: "update", body, revision: c.pick<Revision>(["none", "current", "stale", "bogus"]) };
}

function applied(c: Choices, target: Target): Operation {
  const { subject } = target;
  const version = subject.otherVersions && c.chance(15) ? subject.otherVersions[0] : undefined;
  const object = objectOf(c, subject, version === undefined ? {} : { apiVersion: version });
  const { fieldManager: _, ...query } = options(c);
  const query2 = { ...query, fieldManager: c.pick(MANAGERS), ...(c.chance(35) ? { force: "true" } : {}) };
  const body = c.chance(30)
    ? { apiVersion: object["apiVersion"], kind: object["kind"], ...fragmentOf(c, object) }
    : object;
  return { ...target, verb: "patch", patch: "apply", query: query2, body, ...(c.chance(5) ? pinned(c) : {}) };
}

function appliedStatus(c: Choices, target: Target): Operation {
  const { subject } = target;
  if (!subject.status || !subject.subresources.includes("status")) return applied(c, target);
  const { kind, apiVersion } = subject;
  const extra = c.chance(20) ? subject.body(c) : {};
  const body = { apiVersion, kind, metadata: {}, status: subject.status(c), ...extra };
  const query = { fieldManager: c.pick(MANAGERS), ...(c.chance(35) ? { force: "true" } : {}) };
  return { ...target, subresource: "status", verb: "patch", patch: "apply", query, body };
}

const LABELS = [
  "app=x",
  "app!=x",
  "app in (x,y)",
  "tier",
  "!tier",
  "app=x,tier=1",
  "app notin (y)",
  "tier=",
  "app=x=y",
  "((",
  "app in (x",
];

function list(c: Choices, target: Target): Operation {
  const { subject } = target;
  const fields = [
    "metadata.name=a",
    "metadata.name!=a",
    "nosuch=1",
    "metadata.name=a,metadata.name!=b",
    ...subject.selectors,
  ];
  const query: Record<string, string> = {
    ...(c.chance(30) ? { labelSelector: LABELS[c.below(LABELS.length)] ?? "" } : {}),
    ...(c.chance(20) ? { fieldSelector: fields[c.below(fields.length)] ?? "" } : {}),
    ...(subject.namespaced && c.chance(40) ? { limit: c.pick(["1", "2", "10"]) } : {}),
  };
  if (c.chance(25)) query["resourceVersionMatch"] = c.pick(["Exact", "NotOlderThan", "Exact", "Never"]);
  const revision = c.pick<Revision>(["none", "none", "current", "none", "bogus", "stale"]);
  return { ...target, verb: "list", query, revision };
}

function remove(c: Choices, target: Target): Operation {
  const body = {
    ...c.fields(15, {
      propagationPolicy: () => c.pick(["Background", "Foreground", "Orphan", "Sideways"]),
      gracePeriodSeconds: () => c.pick([0, 1, 30, -1]),
      dryRun: () => [c.pick(["All", "Some"])],
    }),
    ...(c.chance(5) ? { orphanDependents: false } : {}),
  };
  const about = {
    ...target,
    verb: "delete" as const,
    ...(c.chance(8) ? { uid: c.pick<"bogus" | "current">(["current", "bogus"]) } : {}),
    ...pinned(c),
  };
  const isPlain = Object.keys(body).length === 0 && about.revision === undefined && about.uid === undefined;
  return isPlain ? about : { ...about, body: { apiVersion: "v1", kind: "DeleteOptions", ...body } };
}

function clear(c: Choices, target: Target): Operation {
  const { subject } = target;
  // Namespaces have objects of the server's own among their ConfigMaps; Jobs are ended by controllers; other subjects
  // are shared between sequences.
  const isLeft = !subject.namespaced || subject.kind === "ConfigMap" || subject.kind === "Job";
  if (isLeft || !c.chance(50)) return list(c, target);
  return {
    ...target,
    verb: "deletecollection",
    query: c.chance(60) ? { labelSelector: c.pick(["app=x", "app", "(("]) } : {},
  };
}
