import type { Clock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Json } from "../json/json.ts";
import type { Tables } from "../wire/tables.ts";
import type { AuditNotes } from "./audit.ts";
import type { Attributes } from "./attributes.ts";
import type { User } from "./user.ts";
import type { Forms } from "./forms.ts";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import type { FieldProblem } from "../errors/status.ts";
import type { CompiledSchema } from "../schema/index.ts";
import type { Store } from "../store/index.ts";

/** What a strategy may read in addition to the object: the cluster it lives in and who asks. */
export interface WriteContext extends AuditNotes {
  readonly cluster: ClusterView;
  readonly user: User;
  /** The name in the request's path: "" for a POST to a collection. */
  readonly pathName: string;
  readonly subresource: string;
  readonly dryRun: boolean;
  /**
   * Maps of the written object that were given without members, and are none when stored: those at the top, and a
   * template's labels.
   */
  readonly emptyMaps: ReadonlySet<string>;
  warn(message: string): void;
}

/** The part of a logical cluster that rules of kinds may see. */
export interface ClusterView {
  readonly name: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly serviceCidr: string;
  readonly catalog: CatalogView;
  readonly access: AccessView;
}

/** What a user may do in a namespace. */
export interface UserRules {
  readonly rules: readonly Json[];
  /** The roles that bindings of the user name and that do not exist. */
  readonly unresolved: readonly { readonly kind: string; readonly name: string }[];
}

/** What users may do, for rules that depend on it. */
export interface AccessView {
  allows(attributes: Attributes): boolean;
  /** Every rule that holds for a user in a namespace, and which roles are not there. */
  rulesFor(user: User, namespace: string): UserRules;
}

/** Which resources a logical cluster serves. */
export interface CatalogView {
  find(group: string, version: string, plural: string): Served | undefined;
  byKind(group: string, kind: string): Resource | undefined;
  all(): readonly Resource[];
  /** The fields of the built-in kinds. */
  readonly tables: Tables;
}

/** One version of one resource. */
export interface Served {
  readonly resource: Resource;
  readonly version: ResourceVersion;
}

/** An object being written: fresh JSON that may be changed in place. */
export type Draft = KubeObject & Json;

/** The rules of one kind. All hooks are synchronous, so that nothing comes between a read and its write. */
export interface Strategy {
  /**
   * Whether the first write after the creation of such an object is one even when it changes nothing: so kube-apiserver
   * has it, which then stores another form.
   */
  settlesLate?(object: KubeObject): boolean;
  /** What is written at creation under `status` remains (nodes), though there is a status subresource. */
  readonly keepsStatus?: boolean;
  /**
   * What the server itself makes of what is created, before webhooks are called; it has no field manager. Throws Status
   * errors.
   */
  mutate?(draft: Draft, context: WriteContext): MaybePromise<void>;
  /** The fields of a new object before the client's, for a kind without a table of fields. */
  readonly initialFields?: Json;
  /** Fills in what every body means that does not say it: the writer owns it. */
  read?(draft: Draft): void;
  /** Paths of fields that the kind does not have, for a kind without a table of fields. */
  unknownFields?(object: Json): readonly string[];
  /** Fills in what the writer left out. Called on create, update and patch. */
  applyDefaults?(draft: Draft, context: WriteContext): void;
  prepareCreate?(draft: Draft, context: WriteContext): void;
  /** Carries over what the writer may not change. */
  prepareUpdate?(draft: Draft, old: KubeObject, context: WriteContext): void;
  validate?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): readonly FieldProblem[];
  /** Throws a Status error when the writer may not do this. */
  admit?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void;
  /** Throws a Status error when the object may not be deleted. */
  admitDelete?(object: KubeObject, context: WriteContext): void;
  /** Takes what is scarce (addresses, ports); what it returns gives it back when the write fails. */
  allocate?(draft: Draft, old: KubeObject | undefined, context: WriteContext): () => void;
  /** What readers are shown of a stored object; watches and deletions return it as it is stored. */
  shown?(object: KubeObject): KubeObject;
  /** After an update is durable. */
  written?(object: KubeObject, cluster: ClusterView): void;
  /** After the object is gone for good. */
  released?(object: KubeObject, cluster: ClusterView): void;
}

/** A column of a meta.k8s.io/v1 Table; `now` is in milliseconds since the epoch. */
export interface Column {
  readonly name: string;
  readonly type?: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 always, 1 with -o wide. */
  readonly priority?: number;
  cell(object: Json, now: number): unknown;
}

/** One served version of a resource, such as v1. */
export interface ResourceVersion {
  readonly name: string;
  /** The kind's OpenAPI schema, for documents and server-side apply. */
  readonly openAPI?: Json;
  readonly schema?: CompiledSchema;
  readonly columns?: readonly Column[];
  readonly deprecated?: string;
  /** From and to the form in which the object is stored; absent when only apiVersion differs. */
  fromStored?(stored: KubeObject): KubeObject;
  toStored?(object: Draft): Draft;
  readonly subresources?: readonly Subresource[];
  /** Fields in addition to metadata.name and metadata.namespace that selectors may name, as paths. */
  readonly selectable?: readonly string[];
}

/** Where a kind has what its scale subresource shows, as field names from the root. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly labelSelector?: readonly string[];
}

/** A subresource of a resource, and its verbs. */
export interface Subresource {
  readonly name:
    | "status"
    | "scale"
    | "approval"
    | "finalize"
    | "token"
    | "binding"
    | "eviction"
    | "ephemeralcontainers"
    | "resize"
    | "log"
    | "exec"
    | "attach"
    | "portforward"
    | "proxy";
  readonly verbs: readonly string[];
  readonly scale?: ScalePaths;
  /** Group, version and kind of its body when that is not the resource's own. */
  readonly type?: { readonly group: string; readonly version: string; readonly kind: string };
}

/** One REST resource of a logical cluster: a built-in one or one that a CustomResourceDefinition made. */
export interface Resource {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** In order of preference. Only served versions. */
  readonly versions: readonly ResourceVersion[];
  /** The apiVersion that stored objects carry. */
  readonly storedAs: string;
  /** "group/plural" under which the store keeps it. */
  readonly storage: string;
  /** True for what a CustomResourceDefinition made. */
  readonly custom: boolean;
  /** Spec changes raise metadata.generation. */
  readonly generation: boolean;
  readonly strategy: Strategy;
  /**
   * How stored objects are read and written; only custom kinds have it, and are worked on in the version that is
   * called.
   */
  readonly forms?: Forms;
  /** Whether a PUT without resourceVersion may overwrite. */
  readonly unconditionalUpdate: boolean;
  /** Whether a PUT makes what is not there. */
  readonly createdByUpdate: boolean;
}

/** "v1" for the core group, else "apps/v1". */
export function apiVersionOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The object as clients of this version see it. */
export function inVersion(resource: Resource, version: ResourceVersion, stored: KubeObject): KubeObject {
  if (version.fromStored) return version.fromStored(stored);
  const apiVersion = apiVersionOf(resource.group, version.name);
  return stored.apiVersion === apiVersion ? stored : { ...stored, apiVersion };
}

/** Objects of the store as clients of this version see them: at once, unless a conversion webhook has to be called. */
export function seenAll(
  { resource, version }: Served,
  stored: readonly KubeObject[],
): MaybePromise<readonly KubeObject[]> {
  if (!resource.forms) return stored.map((object) => inVersion(resource, version, object));
  return resource.forms.seen(stored, apiVersionOf(resource.group, version.name));
}

/** An object as readers get it, in the form that they requested. */
export function shownTo({ resource }: Pick<Served, "resource">, object: KubeObject): KubeObject {
  return resource.strategy.shown?.(object) ?? object;
}

/** One stored object as clients of a version see it. */
export function seen({ resource, version }: Served, stored: KubeObject): MaybePromise<KubeObject> {
  if (!resource.forms) return inVersion(resource, version, stored);
  return andThen(
    resource.forms.seen([stored], apiVersionOf(resource.group, version.name)),
    ([object]) => object ?? stored,
  );
}
