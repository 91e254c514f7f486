/** A policy of k8s-keystone-auth: rules that allow; what no rule allows is denied. */
export type Policy = readonly PolicyRule[];

/** One rule, in the form of version 1 or 2 of upstream's policies. */
export interface PolicyRule {
  /**
   * Whom the rule is for (version 2): all of the roles, and any of the projects. Undefined: decided by `match`, or
   * all users.
   */
  readonly users?: {
    readonly roles: readonly string[];
    readonly projects: readonly string[];
    /** Ids or names of the project's domain. Undefined: any. */
    readonly domains: readonly string[] | undefined;
  };
  /** Whom the rule is for (version 1): all of them must hold. */
  readonly match: readonly PolicyMatch[];
  /** Version 1. */
  readonly resource?: ResourceSpec;
  /** Version 1. */
  readonly nonResource?: NonResourceSpec;
  /** Version 2; where it is given, `resource` is not read. */
  readonly resourcePermissions?: readonly ResourcePermission[];
  /** Version 2; where it is given, `nonResource` is not read. */
  readonly nonResourcePermissions?: readonly PathPermission[];
}

/** The values of `type` in a rule of version 1. */
export const MATCH_TYPES = ["group", "project", "role", "user"] as const;
/** One of `MATCH_TYPES`. */
export type MatchType = (typeof MATCH_TYPES)[number];

/** A condition of a rule of version 1: the user has one of the values. */
export interface PolicyMatch {
  /** Undefined: a type that does not exist. The rule allows nothing. */
  readonly type: MatchType | undefined;
  readonly values: readonly string[];
  /** Ids or names of the domain of the user or project. Undefined: any. */
  readonly domains: readonly string[] | undefined;
}

/** The requests for resources that a rule of version 1 allows; "*" represents all. */
export interface ResourceSpec {
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  /** The API group; upstream's field is named `version`. */
  readonly apiGroup: string;
  readonly namespace: string;
}

/** The requests for paths such as /healthz that a rule of version 1 allows. */
export interface NonResourceSpec {
  readonly verbs: readonly string[];
  /** Undefined: the rule allows nothing. */
  readonly path: string | undefined;
}

/** "namespace/resource": verbs. */
export interface ResourcePermission {
  readonly namespaces: Pattern;
  readonly resources: Pattern;
  readonly verbs: readonly string[];
}

/** The requests for paths that a rule of version 2 allows. */
export interface PathPermission {
  readonly path: string;
  readonly verbs: readonly string[];
}

/** Which names a permission is for. */
export type Pattern =
  | { readonly type: "any" }
  | { readonly type: "these"; readonly names: readonly string[] }
  | { readonly type: "all-but"; readonly names: readonly string[] };

/** Who asks for what, from a SubjectAccessReview. */
export interface AccessRequest {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** Undefined: the user did not come in by Keystone. */
  readonly extra: Readonly<Record<string, readonly string[]>> | undefined;
  readonly verb: string;
  readonly resource?: {
    readonly namespace: string;
    readonly apiGroup: string;
    readonly resource: string;
    readonly subresource: string;
  };
  /** Of a request that is for no resource. */
  readonly path?: string;
}
