import type { Json } from "../json/json.ts";

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
export const GROUP = "rbac.authorization.k8s.io";
const DEFAULTS = { "kubernetes.io/bootstrapping": "rbac-defaults" } as const;
export const READ = ["get", "list", "watch"];
export const WRITE = ["create", "delete", "deletecollection", "patch", "update"];

export type Rule = Json;

export const rule = (groups: string, resources: string, verbs: readonly string[]): Rule => ({
  apiGroups: groups.split(",").map((g) => (g === "core" ? "" : g)),
  resources: resources.split(","),
  verbs,
});

export const path = (...urls: readonly string[]): Rule => ({ nonResourceURLs: urls, verbs: ["get"] });

export function clusterRole(
  name: string,
  rules: readonly Rule[],
  labels: Readonly<Record<string, string>> = {},
): Manifest {
  return { apiVersion: API, kind: "ClusterRole", metadata: { name, labels: { ...DEFAULTS, ...labels } }, rules };
}

export function aggregated(name: string, from: string, labels: Readonly<Record<string, string>> = {}): Manifest {
  const matchLabels = { [`${GROUP}/aggregate-to-${from}`]: "true" };
  return { ...clusterRole(name, [], labels), aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } };
}

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

export const user = (name: string): Json => ({ apiGroup: GROUP, kind: "User", name });
export const group = (name: string): Json => ({ apiGroup: GROUP, kind: "Group", name });
export const account = (name: string): Json => ({ kind: "ServiceAccount", name, namespace: "kube-system" });
