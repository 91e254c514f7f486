import type { ControlPlaneSpec } from "../runtime.ts";

/** "ca" signs everything, "proxy" is the front proxy's root, "sa" signs service-account tokens. */
export type RootPurpose = "ca" | "proxy" | "sa";

export type Step =
  | { readonly type: "add-finalizer" }
  /** Makes the Secret CLUSTER-PURPOSE, owned by the control plane; one that is there already is kept. */
  | { readonly type: "create-root"; readonly purpose: RootPurpose }
  | { readonly type: "run"; readonly spec: ControlPlaneSpec }
  /** Writes the Secret CLUSTER-kubeconfig with a new client certificate. */
  | { readonly type: "write-kubeconfig"; readonly server: string }
  | { readonly type: "remove" }
  | { readonly type: "remove-finalizer" };
