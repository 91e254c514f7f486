import type { KubeObject } from "@causeway/kubernetes";
import type { Json } from "../json/json.ts";
import type { Call } from "./call.ts";

/** What a request does, as admission.k8s.io/v1 AdmissionReviews name it. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** Mutating admission may change the object; validating admission sees it as it will be stored. */
export type Phase = "mutate" | "validate";

/** A kind in one version; `group` is "" for the core group. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** One attempted operation, with kube-apiserver's admission attributes. */
export interface Attempt {
  readonly call: Call;
  readonly operation: Operation;
  /** What `object` and `old` are: the kind of the resource, or of the body of its subresource. */
  readonly kind: GroupVersionKind;
  /** As the called version shows it; undefined on DELETE, the options of the connection on CONNECT. */
  readonly object: KubeObject | undefined;
  /** What it replaces or deletes; undefined on CREATE. */
  readonly old: KubeObject | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions; null on CONNECT. */
  readonly options: Json | null;
}

/** Asks those who may change or refuse writes of one logical cluster: webhooks and policies. */
export interface Admission {
  /** Whether any plugin handles this phase; synchronous, so that a write without one does not wait. */
  concerns(call: Call, operation: Operation, phase: Phase): boolean;
  /**
   * The object as mutating admission leaves it: the same one if nothing changed, none on DELETE. Throws Status errors.
   */
  mutate(attempt: Attempt): Promise<KubeObject | undefined>;
  /** Throws Status errors. */
  validate(attempt: Attempt): Promise<void>;
}

/** One way of admission: webhooks, policies. */
export interface AdmissionPlugin {
  concerns(call: Call, operation: Operation, phase: Phase): boolean;
  mutate?(attempt: Attempt): Promise<KubeObject | undefined>;
  validate?(attempt: Attempt): Promise<void>;
}
