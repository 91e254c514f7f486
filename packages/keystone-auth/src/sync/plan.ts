import type { Namespace, RoleBinding } from "@causeway/kubernetes";
import { DOMAIN_ID, PROJECT_ID, PROJECT_NAME, ROLES, type KubernetesUser } from "../user.ts";
import type { SyncConfig } from "./plan-config.ts";
import type { Step } from "./steps.ts";

/**
 * Marks the namespaces that belong to a project; an administrator who sets it hands a namespace over to the
 * synchronisation.
 */
export const PROJECT_LABEL = "keystone.causeway.dev/project-id";

/** What the plan of one user's project reads. */
export interface Observed {
  readonly user: KubernetesUser;
  readonly config: SyncConfig;
  readonly namespace: Namespace | undefined;
  /** Of the namespace. */
  readonly bindings: readonly RoleBinding[];
}

/** What makes the namespace and the RoleBindings follow Keystone. */
export interface SyncPlan {
  readonly steps: readonly Step[];
  /** What cannot be done, and why. */
  readonly warnings: readonly string[];
}

const NOTHING: SyncPlan = { steps: [], warnings: [] };
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The namespace of a user's project; undefined where the project is left out, or nothing is synchronised. */
export function namespaceOf(user: KubernetesUser, config: SyncConfig): string | undefined {
  const [id = ""] = user.extra[PROJECT_ID] ?? [];
  const [name = ""] = user.extra[PROJECT_NAME] ?? [];
  const [domain = ""] = user.extra[DOMAIN_ID] ?? [];
  if (config.dataTypes.length === 0 || id === "") return undefined;
  if (config.excludedProjects.includes(id) || config.excludedProjectNames.includes(name)) return undefined;
  const values: Readonly<Record<string, string>> = { "%i": id, "%n": name, "%d": domain };
  const formatted = config.namespaceFormat.replaceAll(/%[ind]/g, (word) => values[word] ?? word);
  // Names of projects may have characters that Kubernetes does not take, and be too long.
  return NAMESPACE.test(formatted) ? formatted : id;
}

/**
 * The steps that make the cluster as Keystone has it: the namespace of the project, and a RoleBinding for each role of
 * the user.
 */
export function plan({ user, config, namespace, bindings }: Observed): SyncPlan {
  const name = namespaceOf(user, config);
  const [projectId = ""] = user.extra[PROJECT_ID] ?? [];
  if (name === undefined) return NOTHING;
  if (!NAMESPACE.test(name))
    return { steps: [], warnings: [`the project id ${projectId} cannot be the name of a namespace`] };
  const own = namespace?.metadata.labels?.[PROJECT_LABEL] === projectId;
  if (namespace !== undefined && !own) {
    const warning = `namespace ${name} exists and has no label ${PROJECT_LABEL}=${projectId}: it is left as it is`;
    return { steps: [], warnings: [warning] };
  }
  if (namespace?.metadata.deletionTimestamp !== undefined) return NOTHING;
  if (namespace === undefined && !config.dataTypes.includes("projects")) {
    return { steps: [], warnings: [`namespace ${name} does not exist, and data-types-to-sync has no projects`] };
  }
  const create: Step[] = namespace === undefined ? [{ type: "create-namespace", name, projectId }] : [];
  if (!config.dataTypes.includes("role_assignments")) return { steps: create, warnings: [] };
  const roles = planBindings({ user, namespace: name, bindings });
  return { steps: [...create, ...roles.steps], warnings: roles.warnings };
}

interface Bindings {
  readonly user: KubernetesUser;
  readonly namespace: string;
  readonly bindings: readonly RoleBinding[];
}

function planBindings({ user, namespace, bindings }: Bindings): SyncPlan {
  const steps: Step[] = [];
  const warnings: string[] = [];
  const wanted = new Set((user.extra[ROLES] ?? []).filter(isName));
  for (const role of user.extra[ROLES] ?? []) if (!isName(role)) warnings.push(unusable(role));
  const present = new Set<string>();
  for (const binding of bindings.filter((b) => isOfUser(b, user.uid))) {
    const role = binding.roleRef.name;
    const current = wanted.has(role) && binding.subjects?.[0]?.name === user.username;
    if (current) present.add(role);
    else
      steps.push({ type: "delete-binding", namespace, name: binding.metadata.name, uid: binding.metadata.uid ?? "" });
  }
  for (const role of wanted) {
    const name = `${user.uid}_${role}`;
    if (present.has(role)) continue;
    if (bindings.some((b) => b.metadata.name === name && !isOfUser(b, user.uid)))
      warnings.push(`RoleBinding ${namespace}/${name} was not made by the synchronisation: it is left as it is`);
    else steps.push({ type: "create-binding", namespace, name, role, username: user.username });
  }
  return { steps, warnings };
}

/** The form of bindings that the synchronisation makes, here and upstream; all others belong to administrators. */
function isOfUser({ metadata, roleRef, subjects }: RoleBinding, uid: string): boolean {
  const [subject, ...others] = subjects ?? [];
  return (
    roleRef.kind === "ClusterRole" &&
    metadata.name === `${uid}_${roleRef.name}` &&
    subject?.kind === "User" &&
    others.length === 0
  );
}

/** A name that can be part of a path, as names of RBAC objects have to be. */
function isName(role: string): boolean {
  return role !== "" && role.length <= 200 && !/[/%]/.test(role);
}

function unusable(role: string): string {
  return `the role "${role}" cannot be part of the name of a RoleBinding`;
}
