/** Wire types of k8s.io/apimachinery meta/v1, exactly as JSON carries them. Unknown fields are kept. */

/** An object on which another depends: it is deleted by garbage collection when its owners are gone. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The fields that one manager has set, by its last write. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: "Apply" | "Update";
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** The metadata that every object has. */
export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

/** Any Kubernetes object. Kinds with more top-level fields extend this. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object of the usual shape. */
export interface Resource<Spec, Status> extends KubeObject {
  spec: Spec;
  status?: Status;
}

/** A list of objects, or one page of it. */
export interface ObjectList<T extends KubeObject> {
  items: T[];
  /** The revision at which the list was read. */
  resourceVersion: string;
}

/** metav1.Condition. */
export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message?: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** The server's answer to a refused request (metav1.Status). */
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  status?: "Success" | "Failure";
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    causes?: { field?: string; message?: string; reason?: string }[];
    retryAfterSeconds?: number;
  };
}

/** Names one object within a type. `namespace` is "" for cluster-scoped types. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** A typed handle on one REST resource: enough to build its URLs. */
export interface ResourceType<T extends KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /**
   * Lists and watches carry only metadata (PartialObjectMetadata), whatever the objects are. Reads of one object and
   * writes carry it whole.
   */
  readonly metadataOnly?: boolean;
  /** Only a carrier of the type parameter; never set. */
  readonly example?: T;
}

/**
 * The same resource, of which lists, watches and informers have the metadata only: for many large objects of which the
 * whole is rarely needed.
 */
export function metadataOf(type: ResourceType<KubeObject>): ResourceType<KubeObject> {
  const { group, version, kind, plural, namespaced } = type;
  return { group, version, kind, plural, namespaced, metadataOnly: true };
}
