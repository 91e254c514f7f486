import { performance } from "node:perf_hooks";
import type { ClusterMetrics } from "../contract/cluster-metrics.ts";
import type { AdmissionPlugin, Attempt } from "../contract/admission.ts";

/** Measures the time of a plugin under the metric names that kube-apiserver has for its two phases. */
export function measured(
  metrics: ClusterMetrics,
  names: { readonly mutate?: string; readonly validate?: string },
  plugin: AdmissionPlugin,
): AdmissionPlugin {
  const timed = async <T>(type: "admit" | "validate", { operation }: Attempt, ask: () => Promise<T>): Promise<T> => {
    const name = (type === "admit" ? names.mutate : names.validate) ?? "";
    const began = performance.now();
    let rejected = true;
    try {
      const answer = await ask();
      rejected = false;
      return answer;
    } finally {
      metrics.admitted({ name, operation, type, rejected, seconds: (performance.now() - began) / 1000 });
    }
  };
  const { mutate, validate } = { mutate: plugin.mutate?.bind(plugin), validate: plugin.validate?.bind(plugin) };
  return {
    concerns: (call, operation, phase) => plugin.concerns(call, operation, phase),
    ...(mutate ? { mutate: (attempt) => timed("admit", attempt, () => mutate(attempt)) } : {}),
    ...(validate ? { validate: (attempt) => timed("validate", attempt, () => validate(attempt)) } : {}),
  };
}
