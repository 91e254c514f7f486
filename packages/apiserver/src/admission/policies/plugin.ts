import { messageOf } from "@causeway/foundation";
import type { Cluster } from "../../contract/cluster.ts";
import type { Call } from "../../contract/call.ts";
import { apiError, forbidden } from "../../errors/status.ts";
import { inForm, nameOf } from "../attributes.ts";
import { activationOf, plainValue } from "../cel/activation.ts";
import type { Activation, Expressions } from "../cel/expressions.ts";
import type { AdmissionPlugin, Attempt, Operation } from "../../contract/admission.ts";
import { coveredForm, type Form } from "../rules.ts";
import { GROUP } from "../webhooks/hooks.ts";
import { records } from "../../json/json.ts";
import { judge, type Complaint } from "./judge.ts";
import { chosenForm } from "./matching.ts";
import { paramResource, paramsOf } from "./params.ts";
import { readPolicies, type Binding, type Policy } from "./read.ts";

const LONGEST_ANNOTATION = 10 * 1024;
const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

/** ValidatingAdmissionPolicies as they are bound, from the commit on. */
export function policyPlugin(cluster: Cluster, expressions: Expressions): AdmissionPlugin {
  let known: readonly Policy[] | undefined;
  cluster.changes.listen(({ resource }) => {
    if (resource.group === GROUP && resource.plural.startsWith("validatingadmissionpolic")) known = undefined;
  });
  const policies = (): readonly Policy[] => (known ??= readPolicies(cluster, expressions));
  return {
    concerns: (call, operation, phase) => phase === "validate" && concerns(policies(), call, operation),
    validate: (attempt) => validateByPolicies(policies(), attempt),
  };
}

/** Policies do not judge what policies are made of. */
function concerns(policies: readonly Policy[], call: Call, operation: Operation): boolean {
  if (policies.length === 0 || call.resource.group === GROUP) return false;
  return policies.some(({ matchConstraints: { resourceRules, matchPolicy } }) =>
    coveredForm(records(resourceRules), matchPolicy, { call, operation }),
  );
}

interface Denial {
  readonly policy: Policy;
  readonly binding: Binding | undefined;
  readonly complaint: Complaint;
}

async function validateByPolicies(policies: readonly Policy[], attempt: Attempt): Promise<void> {
  const denials: Denial[] = [];
  for (const policy of policies) denials.push(...(await denialsOf(policy, attempt)));
  const [first] = denials;
  if (first) throw refusal(attempt, first);
}

/** A policy or binding that cannot be applied denies, unless failures are ignored. */
function misconfigured(policy: Policy, binding: Binding | undefined, error: unknown): Denial[] {
  if (policy.ignoresFailure) return [];
  const message = `failed to configure ${binding ? "binding" : "policy"}: ${messageOf(error)}`;
  return [{ policy, binding, complaint: { message, reason: "", index: 0 } }];
}

async function denialsOf(policy: Policy, attempt: Attempt): Promise<Denial[]> {
  let form: Form | undefined;
  try {
    form = chosenForm(policy.matchConstraints, attempt);
    if (form && policy.paramKind) paramResource(attempt, policy.paramKind);
  } catch (error) {
    return misconfigured(policy, undefined, error);
  }
  if (!form) return [];
  const annotations = new Map<string, Set<string>>();
  const denials: Denial[] = [];
  for (const binding of policy.bindings) {
    try {
      denials.push(...(await bound({ policy, binding, attempt, form }, annotations)));
    } catch (error) {
      denials.push(...misconfigured(policy, binding, error));
    }
  }
  for (const [key, values] of annotations) attempt.call.annotate(`${policy.name}/${key}`, [...values].join(", "));
  return denials;
}

interface Bound {
  readonly policy: Policy;
  readonly binding: Binding;
  readonly attempt: Attempt;
  readonly form: Form;
}

/** What a policy says by one binding; warnings and audit annotations are given on the way. */
async function bound(
  { policy, binding, attempt, form }: Bound,
  annotations: Map<string, Set<string>>,
): Promise<readonly Denial[]> {
  if (!chosenForm(binding.matchResources, attempt)) return [];
  const params = await paramsOf(attempt, policy.paramKind, binding);
  if (params.length === 0) return [];
  const base = activationOf(await inForm(attempt, form), form, true);
  const { call } = attempt;
  return params.flatMap((param): Denial[] => {
    const activation: Activation = { ...base, params: plainValue(param) };
    const { complaints, annotations: added, faults } = judge(policy, activation);
    for (const { key, value } of added) {
      const values = annotations.get(key) ?? new Set();
      annotations.set(key, values.add(value.slice(0, LONGEST_ANNOTATION)));
    }
    const denied = binding.actions.includes("Deny") ? complaints : [];
    for (const complaint of complaints) warnAndAudit(call, { policy, binding, complaint });
    const failed = faults.map((message, index): Complaint => ({ message, reason: "", index }));
    return [...denied, ...failed].map((complaint) => ({ policy, binding, complaint }));
  });
}

function warnAndAudit(call: Call, { policy, binding, complaint }: Denial & { readonly binding: Binding }): void {
  const { message, index } = complaint;
  if (binding.actions.includes("Warn")) {
    const who = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
    call.warn(`Validation failed for ${who}: ${message}`);
  }
  if (!binding.actions.includes("Audit")) return;
  const failure = {
    message,
    policy: policy.name,
    binding: binding.name,
    expressionIndex: index,
    validationActions: binding.actions,
  };
  call.annotate("validation.policy.admission.k8s.io/validation_failure", JSON.stringify([failure]));
}

function refusal(attempt: Attempt, { policy, binding, complaint }: Denial): Error {
  const by = binding ? ` with binding '${binding.name}'` : "";
  const message = `ValidatingAdmissionPolicy '${policy.name}'${by} denied request: ${complaint.message}`;
  const { resource } = attempt.call;
  const name = nameOf(attempt) || attempt.object?.metadata.name || attempt.object?.metadata.generateName || "Unknown!";
  const status = forbidden(resource, name, message).details["status"] as { message: string; details?: object };
  const reason = complaint.reason || "Invalid";
  return apiError(CODES[reason] ?? 422, reason, status.message, {
    ...status.details,
    causes: [{ message }],
  } as Parameters<typeof apiError>[3]);
}
