import { base64 } from "@causeway/foundation";
import { randomUUID } from "node:crypto";
import { rangeOf } from "../pool/range.ts";
import { mebibytes, type StorageRecord } from "./records.ts";

/** Name of the policy and its binding in the control plane. */
export const POLICY_NAME = "causeway-storage-budget";

const POLICY = `registry/validatingadmissionpolicies/${POLICY_NAME}`;
const BINDING = `registry/validatingadmissionpolicybindings/${POLICY_NAME}`;

/** The keys of the policy below a control plane's prefix, in order. */
export function policyKeys(prefix: string): readonly [policy: string, binding: string] {
  return [`${prefix}${POLICY}`, `${prefix}${BINDING}`];
}

/** As etcd has it: keys in base64; without `range_end` it is one key. */
export interface Permission {
  readonly permType: "READ" | "READWRITE";
  readonly key: string;
  readonly range_end?: string;
}

/**
 * What the user of a control plane may do: all below its prefix, but for the policy, which it can only read. So no user
 * of the control plane, whatever rights it has there, can change or delete the policy.
 */
export function permissionsOf(prefix: string, sealed: boolean): Permission[] {
  const all = rangeOf(prefix);
  const [policy, binding] = policyKeys(prefix);
  const permType = sealed ? "READ" : "READWRITE";
  return [
    { permType, key: all.key, range_end: base64(policy) },
    { permType: "READ", key: base64(policy) },
    { permType, key: base64(`${policy}\0`), range_end: base64(binding) },
    { permType: "READ", key: base64(binding) },
    { permType, key: base64(`${binding}\0`), range_end: all.range_end },
  ];
}

/** What a role lacks, and what it has too much; grants come first, so that nothing is refused in between. */
export function permissionChanges(
  has: readonly Permission[],
  wanted: readonly Permission[],
): { readonly grant: Permission[]; readonly revoke: Permission[] } {
  const place = ({ key, range_end = "" }: Permission) => `${key} ${range_end}`;
  const wantedPlaces = new Set(wanted.map(place));
  const held = new Map(has.map((each) => [place(each), each.permType]));
  return {
    grant: wanted.filter((each) => held.get(place(each)) !== each.permType),
    revoke: has.filter((each) => !wantedPlaces.has(place(each))),
  };
}

/** What the users of the control plane read when a write is refused. */
export function refusalText({ bytes, budget }: StorageRecord): string {
  return `this cluster stores ${mebibytes(bytes)}, and its budget in the shared etcd is ${mebibytes(budget)}: delete objects, or have spec.limits.bytes of its HostedControlPlane raised (PODS_STORAGE_EXCEEDED)`;
}

/**
 * The policy and its binding as kube-apiserver stores them. They are written into etcd: the control plane's own API
 * could not keep its users from deleting them. Objects can be deleted, and those that are being deleted can change;
 * what is not stored, what nodes report and what routes Services is not refused.
 */
export function policyObjects(record: StorageRecord, now: number): readonly [policy: object, binding: object] {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const metadata = () => ({
    name: POLICY_NAME,
    uid: randomUUID(),
    generation: 1,
    creationTimestamp: `${new Date(now).toISOString().slice(0, 19)}Z`,
  });
  const rule = (apiGroups: string[], resources: string[], operations = ["CREATE", "UPDATE"]) => ({
    apiGroups,
    apiVersions: ["*"],
    operations,
    resources,
    scope: "*",
  });
  const policy = {
    apiVersion,
    kind: "ValidatingAdmissionPolicy",
    metadata: metadata(),
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [rule(["*"], ["*/*"])],
        excludeResourceRules: [
          rule(["*"], ["*/status", "*/scale", "*/finalize", "*/approval"]),
          rule([""], ["pods/binding", "pods/eviction", "bindings", "serviceaccounts/token", "endpoints"]),
          rule(["discovery.k8s.io"], ["endpointslices"]),
          // Dead nodes are tainted and recovered ones are not any more; kubelets renew their certificates.
          rule([""], ["nodes"], ["UPDATE"]),
          rule(["certificates.k8s.io"], ["certificatesigningrequests"], ["CREATE"]),
          rule(["coordination.k8s.io"], ["leases"]),
          rule(["authentication.k8s.io", "authorization.k8s.io"], ["*/*"]),
        ],
      },
      matchConditions: [
        {
          name: "not-being-deleted",
          expression: "request.operation != 'UPDATE' || !has(oldObject.metadata.deletionTimestamp)",
        },
      ],
      validations: [{ expression: "false", message: refusalText(record), reason: "Forbidden" }],
    },
  };
  const binding = {
    apiVersion,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: metadata(),
    spec: { policyName: POLICY_NAME, validationActions: ["Deny"] },
  };
  return [policy, binding];
}
