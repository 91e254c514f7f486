import type { CausewayError } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { AdmissionPlugin } from "../contract/admission.ts";
import type { Cluster } from "../contract/cluster.ts";
import { define } from "../contract/define.ts";
import type { Resource } from "../contract/resource.ts";
import type { Json } from "../json/json.ts";
import { Expressions } from "../admission/cel/expressions.ts";
import { policyPlugin } from "../admission/policies/plugin.ts";
import { admissionCluster, attemptOn, inVersions, MAPS, type AttemptFields } from "./attempts.ts";
import type { Stored } from "./objects.ts";

export const GROUP = "admissionregistration.k8s.io";
export const POLICIES = `${GROUP}/validatingadmissionpolicies`;
export const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;
export const RULE = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] };
export const MATCHING = { matchConstraints: { resourceRules: [RULE] } };
export const DENY = { validationActions: ["Deny"] };
export const BY = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ";
const params = define({ kind: "Limit", plural: "limits", group: "x.io" });
const clusterParams = define({ kind: "Bound", plural: "bounds", group: "x.io", clusterScoped: true });
export const things = inVersions(
  { kind: "Thing", plural: "things", group: "x.io" },
  { name: "v1" },
  { name: "v2", fromStored: (o) => ({ ...o, apiVersion: "x.io/v2", as: "v2" }) as KubeObject },
);

export const failing = (...validations: readonly Json[]): Json => ({ validations });
export const map = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "o", labels: { a: "b" } },
  data: { n: "1" },
};

/** A policy, its binding, and what is attempted. */
export interface Case {
  readonly policy: Json;
  readonly binding?: Json;
  readonly resource?: Resource;
  readonly attempt?: AttemptFields;
  readonly stored?: Stored;
}

/** A cluster with these objects, and the plugin that reads its policies. */
export async function opened(stored: Stored): Promise<{ cluster: Cluster; plugin: AdmissionPlugin }> {
  const namespaces = [{ metadata: { name: "ns", labels: { team: "a" } } }];
  const cluster = await admissionCluster(
    { "/namespaces": namespaces, ...stored },
    { resources: [params, clusterParams, things], allows: () => true },
  );
  return { cluster, plugin: policyPlugin(cluster, new Expressions()) };
}

/** What becomes of an attempt; warnings and annotations only where there are any. */
export async function outcome({
  policy,
  binding = DENY,
  resource = MAPS,
  attempt = {},
  stored = {},
}: Case): Promise<Json> {
  const { cluster, plugin } = await opened({
    [POLICIES]: [{ metadata: { name: "p" }, spec: { ...MATCHING, ...policy } }],
    [BINDINGS]: [{ metadata: { name: "b" }, spec: { policyName: "p", ...binding } }],
    ...stored,
  });
  const attempted = attemptOn(cluster, resource, { object: map, ...attempt });
  const { warnings, annotations } = attempted;
  const noted = (): Json => ({
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
  });
  try {
    await plugin.validate?.(attempted.attempt);
    return noted();
  } catch (error) {
    const { details } = error as CausewayError;
    const { code, reason, message, details: about } = details["status"] as Json;
    return { code, reason, message, about, ...noted() };
  }
}

/** The message of a refusal alone. */
export async function refusal(one: Case): Promise<unknown> {
  return (await outcome(one))["message"];
}

/** The message of a refusal by the policy of the tests. */
export const forbidden = (why: string, name = "o"): string => `configmaps "${name}" is forbidden: ${BY}${why}`;
