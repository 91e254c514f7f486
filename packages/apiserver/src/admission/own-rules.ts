import { isDeepStrictEqual } from "node:util";
import {
  defaultsConcern,
  rulesConcern,
  withReplacements,
  type AdmissionRequest,
  type AdmissionRules,
  type KubeObject,
  type WrittenResource,
} from "@causeway/kubernetes";
import type { AdmissionPlugin, Attempt } from "../contract/admission.ts";
import { apiVersionOf } from "../contract/resource.ts";
import { apiError, forbidden, qualified } from "../errors/status.ts";
import { inForm } from "./attributes.ts";
import type { Form } from "./rules.ts";

/** Has rules of the same process change and judge writes of custom kinds, as their webhooks would. */
export function ownRulesPlugin(rules: readonly AdmissionRules[]): AdmissionPlugin {
  const written = ({ call, operation }: Pick<Attempt, "call" | "operation">): WrittenResource => {
    const { group, plural } = call.resource;
    return { group, plural, subresource: call.subresource, operation };
  };
  const judging = (attempt: Pick<Attempt, "call" | "operation">): readonly AdmissionRules[] =>
    rules.filter((each) => rulesConcern(each, written(attempt)));
  const changing = (attempt: Pick<Attempt, "call" | "operation">): readonly AdmissionRules[] =>
    rules.filter((each) => defaultsConcern(each, written(attempt)));
  return {
    concerns: (call, operation, phase) => (phase === "validate" ? judging : changing)({ call, operation }).length > 0,
    mutate(attempt) {
      if (isSpecUnchanged(attempt)) return Promise.resolve(attempt.object);
      return Promise.resolve(
        changing(attempt).reduce<KubeObject | undefined>(
          (object, { defaults }) => (object && defaults ? withReplacements(object, defaults.of(object)) : object),
          attempt.object,
        ),
      );
    },
    async validate(attempt) {
      for (const each of judging(attempt)) await judge(each, attempt);
    },
  };
}

async function judge(rules: AdmissionRules, attempt: Attempt): Promise<void> {
  const { call, operation } = attempt;
  const form = formOf(attempt, rules.version);
  const { object, old, kind } = form ? await inForm(attempt, form) : attempt;
  if (isSpecUnchanged({ operation, object, old })) return;
  const problems = await rules.refusals({
    operation: operation as AdmissionRequest["operation"],
    kind: kind.kind,
    object,
    previous: old,
    dryRun: call.dryRun,
  });
  if (problems.length === 0) return;
  const name = call.name || (object?.metadata.name ?? "");
  const why = problems.join("; ");
  if (operation === "DELETE") throw forbidden(call.resource, name, why);
  const details = { name, group: call.resource.group, kind: call.resource.kind };
  throw apiError(422, "Invalid", `${qualified(call.resource)} "${name}" is invalid: ${why}`, details);
}

/** The version that the rules read; undefined where the kind has no such version. */
function formOf({ call: { resource } }: Attempt, wanted: string): Form | undefined {
  const version =
    resource.versions.find(({ name }) => name === wanted) ??
    resource.versions.find(({ name }) => apiVersionOf(resource.group, name) === resource.storedAs);
  return version && { resource, version };
}

/** A finalizer or a label changes nothing that the rules and defaults read. */
function isSpecUnchanged({ operation, object, old }: Pick<Attempt, "operation" | "object" | "old">): boolean {
  return operation === "UPDATE" && isDeepStrictEqual(specOf(object), specOf(old));
}

function specOf(object: KubeObject | undefined): unknown {
  return (object as { readonly spec?: unknown } | undefined)?.spec;
}
