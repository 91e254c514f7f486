import type { Admission, AdmissionPlugin, Attempt } from "../contract/admission.ts";

/** Asks plugins in order; the first refusal is the answer. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const concerned = ({ call, operation }: Attempt, phase: "mutate" | "validate"): readonly AdmissionPlugin[] =>
    plugins.filter((p) => p.concerns(call, operation, phase));
  return {
    concerns: (call, operation, phase) => plugins.some((p) => p.concerns(call, operation, phase)),
    async mutate(attempt) {
      let { object } = attempt;
      for (const plugin of concerned(attempt, "mutate")) {
        object = (await plugin.mutate?.({ ...attempt, object })) ?? object;
      }
      return object;
    },
    async validate(attempt) {
      for (const plugin of concerned(attempt, "validate")) await plugin.validate?.(attempt);
    },
  };
}
