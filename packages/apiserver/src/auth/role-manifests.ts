import type { Json } from "../json/json.ts";

/** A default RBAC object. */
export interface Manifest extends Json {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

const API = "rbac.authorization.k8s.io/v1";
/** The group of RBAC. */
export const GROUP = "rbac.authorization.k8s.io";
const DEFAULTS = { "kubernetes.io/bootstrapping": "rbac-defaults" } as const;
/** The verbs that change nothing. */
export const READ = ["get", "list", "watch"];
/** The verbs that change something. */
export const WRITE = ["create", "delete", "deletecollection", "patch", "update"];

/** A rbac.authorization.k8s.io/v1 PolicyRule. */
export type Rule = Json;

/** A rule about resources; groups and resources are lists with commas, and "core" is the core group. */
export const rule = (groups: string, resources: string, verbs: readonly string[]): Rule => ({
  apiGroups: groups.split(",").map((g) => (g === "core" ? "" : g)),
  resources: resources.split(","),
  verbs,
});

/** A rule that allows to read paths which are no resources, such as "/healthz". */
export const path = (...urls: readonly string[]): Rule => ({ nonResourceURLs: urls, verbs: ["get"] });

/** A ClusterRole with the label of what the server itself brings. */
export function clusterRole(
  name: string,
  rules: readonly Rule[],
  labels: Readonly<Record<string, string>> = {},
): Manifest {
  return { apiVersion: API, kind: "ClusterRole", metadata: { name, labels: { ...DEFAULTS, ...labels } }, rules };
}

/** A ClusterRole whose rules are those of all ClusterRoles with the label `aggregate-to-FROM`. */
export function aggregated(name: string, from: string, labels: Readonly<Record<string, string>> = {}): Manifest {
  const matchLabels = { [`${GROUP}/aggregate-to-${from}`]: "true" };
  return { ...clusterRole(name, [], labels), aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } };
}

/** A ClusterRoleBinding of the ClusterRole `to`. */
export function clusterBinding(name: string, to: string, subjects: readonly Json[]): Manifest {
  return {
    apiVersion: API,
    kind: "ClusterRoleBinding",
    metadata: { name, labels: DEFAULTS },
    roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: to },
    subjects,
  };
}

interface Bound {
  readonly namespace: string;
  readonly subjects: readonly Json[];
}

/** A namespace's role. */
export function role(name: string, namespace: string, rules: readonly Rule[]): Manifest {
  return { apiVersion: API, kind: "Role", metadata: { name, namespace }, rules };
}

/** A namespace's role, given to subjects. */
export function binding(name: string, to: string, { namespace, subjects }: Bound): Manifest {
  const roleRef = { apiGroup: GROUP, kind: "Role", name: to };
  return { apiVersion: API, kind: "RoleBinding", metadata: { name, namespace }, roleRef, subjects };
}

/** It is there because the server brings it. */
export function byDefault(manifest: Manifest): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, labels: DEFAULTS } };
}

/** A subject: a user. */
export const user = (name: string): Json => ({ apiGroup: GROUP, kind: "User", name });
/** A subject: a group. */
export const group = (name: string): Json => ({ apiGroup: GROUP, kind: "Group", name });
/** A subject: a service account of kube-system. */
export const account = (name: string): Json => ({ kind: "ServiceAccount", name, namespace: "kube-system" });
