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

export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

export type Authorize = (attributes: Attributes) => Decision;

/** What a field or label must be, for authorizers that look at it. */
export interface Requirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}
