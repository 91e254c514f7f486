import type { ControlPlaneSpec } from "../runtime.ts";
import type { SizeClass } from "./options.ts";

/** What one program is given. Memory is limited, CPU is not: a throttled API server loses its leases. */
export interface Resources {
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly limits: { readonly memory: string };
}

/** What each program of a control plane of one size is given. */
export interface Size {
  readonly etcd: Resources;
  readonly apiServer: Resources;
  readonly controllerManager: Resources;
  readonly scheduler: Resources;
  readonly cloud: Resources;
  /** Bytes that it may store in the shared etcd, where the object says nothing. */
  readonly budget: number;
  /** Requests in flight at one API server: reads, writes. */
  readonly inflight: readonly [number, number];
}

const resources = (cpu: string, memory: string, limit: string): Resources => ({
  requests: { cpu, memory },
  limits: { memory: limit },
});

const MIB = 2 ** 20;

/** About 50, 250 and 1,000 nodes. */
export const sizes: Readonly<Record<SizeClass, Size>> = {
  Small: {
    etcd: resources("50m", "128Mi", "1Gi"),
    apiServer: resources("100m", "320Mi", "2Gi"),
    controllerManager: resources("25m", "64Mi", "512Mi"),
    scheduler: resources("15m", "48Mi", "256Mi"),
    cloud: resources("10m", "96Mi", "256Mi"),
    budget: 128 * MIB,
    inflight: [200, 100],
  },
  Medium: {
    etcd: resources("250m", "512Mi", "3Gi"),
    apiServer: resources("500m", "1Gi", "6Gi"),
    controllerManager: resources("100m", "256Mi", "2Gi"),
    scheduler: resources("50m", "128Mi", "1Gi"),
    cloud: resources("25m", "128Mi", "512Mi"),
    budget: 512 * MIB,
    inflight: [400, 200],
  },
  Large: {
    etcd: resources("1", "2Gi", "8Gi"),
    apiServer: resources("2", "4Gi", "16Gi"),
    controllerManager: resources("500m", "1Gi", "8Gi"),
    scheduler: resources("250m", "512Mi", "4Gi"),
    cloud: resources("50m", "256Mi", "1Gi"),
    budget: 2048 * MIB,
    inflight: [1600, 800],
  },
};

/** Bytes that a control plane may store in the shared etcd. */
export function budgetOf({ pods, storageBudget }: Pick<ControlPlaneSpec, "pods" | "storageBudget">): number {
  return storageBudget ?? sizes[pods?.size ?? "Small"].budget;
}
