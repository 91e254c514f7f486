import { base64 } from "@causeway/foundation";
import { rangeOf } from "./range.ts";

/** Name of the policy and its binding in the control plane. */
export const POLICY_NAME = "causeway-storage-budget";

const POLICY = `registry/validatingadmissionpolicies/${POLICY_NAME}`;
const BINDING = `registry/validatingadmissionpolicybindings/${POLICY_NAME}`;

/** The keys of the policy below a control plane's prefix, in order. */
export function policyKeys(prefix: string): readonly [policy: string, binding: string] {
  return [`${prefix}${POLICY}`, `${prefix}${BINDING}`];
}

/**
 * While a key of this name is there, the user of the prefix may only read, whichever process sets its permissions. API
 * servers do not know it.
 */
export function frozenKey(prefix: string): string {
  return `${prefix}causeway.dev/frozen`;
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
