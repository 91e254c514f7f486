import type { Context, Json } from "../interface.ts";
import { configMap, eventually, made } from "./shorthands.ts";
import { CONFIGURATIONS, GROUP, MAPS } from "./webhook-words.ts";

export const POLICIES = `${CONFIGURATIONS}/validatingadmissionpolicies`;
export const BINDINGS = `${CONFIGURATIONS}/validatingadmissionpolicybindings`;

export function policy(name: string, spec: Json): Json {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [MAPS] }, ...spec },
  };
}

export function binding(name: string, policyName: string, spec: Json = {}): Json {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName, validationActions: ["Deny"], ...spec },
  };
}

const PROBE = "object.metadata.?labels.probe.orValue('') != 'yes'";

/** A config map that only the probe's own policy refuses. */
const probe = configMap("probe", { metadata: { labels: { probe: "yes" } } });

/**
 * Runs `work` while a policy is in force for the namespace of the case. Names are those of the policy and of its
 * binding.
 */
export async function withPolicy(
  context: Context,
  { spec, bound = {}, also = [] }: { spec: Json; bound?: Json; also?: readonly Json[] },
  work: (names: { policy: string; binding: string }) => Promise<void>,
): Promise<void> {
  const { api, namespace, core } = context;
  const name = context.unique("policy");
  const here = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  const notProbe = { objectSelector: { matchExpressions: [{ key: "probe", operator: "DoesNotExist" }] } };
  const resources = { matchResources: { ...here, ...notProbe } };
  await made(api.post(POLICIES, policy(name, spec)));
  await made(api.post(BINDINGS, binding(name, name, { ...resources, ...bound })));
  for (const [i, more] of also.entries()) {
    await made(api.post(BINDINGS, binding(`${name}-${i}`, name, { ...resources, ...more })));
  }
  // Written last, so that where it is in force all are.
  const last = `${name}-probe`;
  await made(
    api.post(
      POLICIES,
      policy(last, {
        matchConstraints: { resourceRules: [{ ...MAPS, operations: ["CREATE"] }] },
        validations: [{ expression: PROBE, message: last }],
      }),
    ),
  );
  await made(api.post(BINDINGS, binding(last, last, { matchResources: here })));
  try {
    await eventually(async () => {
      const { body } = await api.post(`${core("configmaps")}?dryRun=All`, probe);
      return String(body["message"]).endsWith(`: ${last}`) ? true : undefined;
    }, "the policy");
    await work({ policy: name, binding: name });
  } finally {
    const written = [`${BINDINGS}/${last}`, `${POLICIES}/${last}`, `${BINDINGS}/${name}`, `${POLICIES}/${name}`];
    const others = also.map((_, i) => `${BINDINGS}/${name}-${i}`);
    for (const path of [...written, ...others]) await api.delete(path);
  }
}
