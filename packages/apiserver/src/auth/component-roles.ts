import { COMPONENT_RULES, CONTROLLER_RULES } from "./controller-rules.ts";
import {
  account,
  binding,
  byDefault,
  clusterBinding,
  clusterRole,
  group,
  role,
  rule,
  user,
  type Manifest,
  type Rule,
} from "./role-manifests.ts";

const CONTROLLER = "system:controller:";
const MANAGER = "system:kube-controller-manager";
const SCHEDULER = "system:kube-scheduler";
const EVENTS = "core,events.k8s.io events create,patch,update";
/** Whose signer's requests each approver may approve. */
const APPROVERS = ["kube-apiserver-client", "kube-apiserver-client-kubelet", "kubelet-serving", "legacy-unknown"];
const ISSUING = "system:certificates.k8s.io:";

/** "GROUPS RESOURCES[ =NAMES] VERBS", one or more, joined by "; ". */
function rulesOf(text: string): Rule[] {
  return text.split("; ").map((one) => {
    const [groups = "", resources = "", ...rest] = (one === "events" ? EVENTS : one).split(" ");
    const verbs = rest.at(-1)?.split(",") ?? [];
    const names = rest.length > 1 ? { resourceNames: rest[0]?.slice(1).split(",") } : {};
    return { ...rule(groups, resources, verbs), ...names };
  });
}

/**
 * The roles of Kubernetes' own controllers, of its scheduler and of what else a cluster is made of, which they have
 * with kube-apiserver from its start; a cluster's node is held to what the Node authorizer says, and its role has no
 * binding.
 */
export function componentRoles(): readonly Manifest[] {
  const controllers = Object.entries(CONTROLLER_RULES);
  return [
    ...controllers.map(([name, rules]) => clusterRole(`${CONTROLLER}${name}`, rulesOf(rules))),
    ...Object.entries(COMPONENT_RULES).map(([name, rules]) => clusterRole(`system:${name}`, rulesOf(rules))),
    ...APPROVERS.map((signer) => {
      const approving = rulesOf(`certificates.k8s.io signers =kubernetes.io/${signer} approve`);
      return clusterRole(`${ISSUING}${signer}-approver`, approving);
    }),
    ...controllers.map(([name]) => clusterBinding(`${CONTROLLER}${name}`, `${CONTROLLER}${name}`, [account(name)])),
    clusterBinding(MANAGER, MANAGER, [user(MANAGER)]),
    clusterBinding("system:kube-dns", "system:kube-dns", [account("kube-dns")]),
    clusterBinding(SCHEDULER, SCHEDULER, [user(SCHEDULER)]),
    clusterBinding("system:volume-scheduler", "system:volume-scheduler", [user(SCHEDULER)]),
    clusterBinding("system:monitoring", "system:monitoring", [group("system:monitoring")]),
    clusterBinding("system:node", "system:node", []),
    ...systemRoles().map(byDefault),
  ];
}

/** The same within the namespaces of the system. */
function systemRoles(): readonly Manifest[] {
  const [system, open] = ["kube-system", "kube-public"];
  const own = (name: string, namespace: string, rules: string): Manifest[] => [
    role(`${CONTROLLER}${name}`, namespace, rulesOf(rules)),
    binding(`${CONTROLLER}${name}`, `${CONTROLLER}${name}`, { namespace, subjects: [account(name)] }),
  ];
  const reader = "extension-apiserver-authentication-reader";
  return [
    ...own("bootstrap-signer", open, "core configmaps get,list,watch; core configmaps =cluster-info update; events"),
    ...own("bootstrap-signer", system, "core secrets get,list,watch"),
    ...own("cloud-provider", system, "core configmaps create,get,list,watch"),
    ...own("token-cleaner", system, "core secrets delete,get,list,watch; events"),
    role(reader, system, rulesOf("core configmaps =extension-apiserver-authentication get,list,watch")),
    binding(`system::${reader}`, reader, { namespace: system, subjects: [user(MANAGER), user(SCHEDULER)] }),
    ...leading("kube-controller-manager", [account("kube-controller-manager"), account("leader-election-controller")]),
    ...leading("kube-scheduler", [account("kube-scheduler")]),
  ];
}

/** What one of several needs to be the leader. */
function leading(name: string, accounts: ReturnType<typeof account>[]): Manifest[] {
  const full = `system::leader-locking-${name}`;
  const leases = (resource: string): string => `coordination.k8s.io ${resource} create,get,list,update,watch`;
  const rules = `core configmaps watch; core configmaps =${name} get,update; ${leases("leases")}; ${leases("leasecandidates")}`;
  return [
    role(full, "kube-system", rulesOf(rules)),
    binding(full, full, { namespace: "kube-system", subjects: [user(`system:${name}`), ...accounts] }),
  ];
}
