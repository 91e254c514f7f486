import type { Taint } from "@causeway/kubernetes";
import type { Toleration } from "../../model/spec.ts";

/** @see https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(
    ({ key = "", operator, value = "", effect = "" }) =>
      (effect === "" || effect === taint.effect) &&
      (key === "" || key === taint.key) &&
      (operator === "Exists" || (key !== "" && value === (taint.value ?? ""))),
  );
}
