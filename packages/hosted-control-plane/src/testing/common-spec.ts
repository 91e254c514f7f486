import type { ControlPlaneSpec } from "../runtime.ts";

/** What a control plane has in tests of every runtime. */
export const commonSpec = {
  id: "default.web",
  serviceCidr: "10.96.0.0/12",
  dnsDomain: "cluster.local",
  names: [],
  limits: { objects: 50_000, bytes: 2 ** 30 },
  authentication: {},
  worker: "shared",
} satisfies Partial<ControlPlaneSpec>;
