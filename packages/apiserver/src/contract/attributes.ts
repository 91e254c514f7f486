import type { User } from "./user.ts";

/** The operation to authorize (authorization.k8s.io SubjectAccessReviewSpec). */
export interface Attributes {
  readonly user: User;
  readonly verb: string;
  readonly namespace: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource: string;
  readonly name: string;
  /** Set, and the resource fields empty, for paths that are no resources. */
  readonly path?: string;
  /** What a list or watch is limited to, when that can be read. */
  readonly fieldRequirements?: readonly Requirement[];
  readonly labelRequirements?: readonly Requirement[];
}

/** Whether a request is allowed; `reason` says why, for messages and access reviews. */
export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

/** What decides about requests: RBAC, or what the server's owner put in its place. */
export type Authorize = (attributes: Attributes) => Decision;

/** What a field or label must be, for authorizers that read it. */
export interface Requirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}
