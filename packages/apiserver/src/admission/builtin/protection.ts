import type { Strategy } from "../../contract/resource.ts";

/**
 * A finalizer that keeps objects of storage while they are used (admission plugin StorageObjectInUseProtection). The
 * protection controllers of workload-controllers or kube-controller-manager remove it.
 */
export function protectedBy(finalizer: string): NonNullable<Strategy["mutate"]> {
  return ({ metadata }) => {
    const { finalizers = [] } = metadata;
    if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
  };
}
