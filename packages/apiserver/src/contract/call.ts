import type { KubeObject } from "@causeway/kubernetes";
import type { Json } from "../json/json.ts";
import type { AuditNotes } from "./audit.ts";
import { SYSTEM, type User } from "./user.ts";
import type { Cluster } from "./cluster.ts";
import { apiVersionOf, seen, type Resource, type ResourceVersion, type Draft, type WriteContext } from "./resource.ts";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import type { Holder } from "./thread-time.ts";

import { notFound } from "../errors/status.ts";
import type { StoreKey, Stored } from "../store/index.ts";

/** One request on one resource, after authentication and authorization. */
export interface Call extends AuditNotes {
  readonly cluster: Cluster;
  readonly resource: Resource;
  readonly version: ResourceVersion;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** The write is one of the scale of the object. */
  readonly isScale?: true;
  readonly user: User;
  /** The request that the work is done for; absent for the server's own calls. */
  readonly holder?: Holder;
  readonly dryRun: boolean;
  /**
   * What the write leaves in the metadata that holds nothing (empty-metadata.ts); absent for writes that leave none.
   */
  readonly emptyMetadata?: { emptyKeys: string; members: Json };
  /** Where other versions of the kind come from a webhook. */
  readonly otherForms?: OtherForms;
  /**
   * Maps without members in the body that was read last, those at the top and a template's labels: the same as none
   * when stored, not always when judged.
   */
  readonly emptyMaps?: Set<string>;
  readonly fieldManager: string;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
  /** The options of the request as admission receives them; absent for the server's own calls. */
  options?(): Json;
  warn(message: string): void;
}

/** A call that the server makes itself. */
export function internalCall(
  cluster: Cluster,
  resource: Resource,
  target: { namespace?: string; name?: string; subresource?: string },
): Call {
  const isStored = (name: string): boolean => apiVersionOf(resource.group, name) === resource.storedAs;
  const stored = resource.versions.find((v) => isStored(v.name)) ?? resource.versions[0];
  if (!stored) throw notFound(resource, target.name ?? "");
  return {
    cluster,
    resource,
    version: stored,
    namespace: target.namespace ?? "",
    name: target.name ?? "",
    subresource: target.subresource ?? "",
    user: SYSTEM,
    dryRun: false,
    fieldManager: "causeway-apiserver",
    fieldValidation: "Ignore",
    warn: () => {},
    annotate: () => {},
  };
}

/** Where the object of a call is stored, or another of its namespace. */
export function keyOf(call: Call, name = call.name): StoreKey {
  const { cluster, resource } = call;
  return { cluster: cluster.name, resource: resource.storage, namespace: call.namespace, name };
}

const NONE: ReadonlySet<string> = new Set();

/** What a kind's rules get to know of the call that writes. */
export function contextOf(call: Call): WriteContext {
  const { cluster, user, name, subresource, dryRun, emptyMaps = NONE } = call;
  return {
    cluster,
    user,
    pathName: name,
    subresource,
    dryRun,
    emptyMaps,
    warn: (message) => call.warn(message),
    annotate: call.annotate,
  };
}

/** Does synchronous work of a call on the account of its cluster. */
export function charged<T>({ cluster, holder }: Call, work: () => T): T {
  return cluster.thread.run(holder ?? { cluster: cluster.name, request: "internal request" }, work);
}

/** Throws 404 NotFound. */
export function current(call: Call): Stored {
  const stored = call.cluster.store.get(keyOf(call));
  if (!stored) throw notFound(call.resource, call.name);
  return stored;
}

/** A stored object in the form that the call works in. */
export interface Read extends Stored {
  /** As it is in the store; `object` is what the version of the call makes of it. */
  readonly kept: KubeObject;
}

/**
 * The current object in the form that the call works in: for custom kinds the version that is called. Throws 404
 * NotFound.
 */
export function read(call: Call): MaybePromise<Read> {
  const stored = current(call);
  if (!call.resource.forms) return { ...stored, kept: stored.object };
  return andThen(seen(call, stored.object), (object) => ({ ...stored, object, kept: stored.object }));
}

/** What a call has worked out, in the form that goes into the store. */
export function storedForm(call: Call, draft: Draft): MaybePromise<Draft> {
  return call.resource.forms?.stored(draft) ?? draft;
}

/** Reports a committed write to the cluster's own controllers. */
export function announce(
  call: Call,
  type: "ADDED" | "MODIFIED" | "DELETED",
  object: KubeObject,
  previous?: KubeObject,
): void {
  call.cluster.changes.emit({ type, resource: call.resource, object, ...(previous ? { previous } : {}) });
}

/** Objects in versions that only a webhook can make, as one request has come to know them. */
export interface OtherForms {
  /** Whether a step that needs an unknown form waits for the webhook and runs again. */
  waits: boolean;
  readonly known: Map<string, KubeObject>;
}
