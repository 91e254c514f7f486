import type { Secret } from "@causeway/kubernetes";
import type { RootStage, RotatedPurpose } from "./roots.ts";
import type { ControlPlaneSpec } from "../runtime.ts";

/** "ca" signs everything, "proxy" is the front proxy's root, "sa" signs service-account tokens. */
export type RootPurpose = "ca" | "proxy" | "sa";

/** What plan may return. */
export type Step =
  | { readonly type: "add-finalizer" }
  /** Makes the Secret CLUSTER-PURPOSE, owned by the control plane; one that is there already is kept. */
  | { readonly type: "create-root"; readonly purpose: RootPurpose }
  /** Brings the root to the next stage of a rotation, in one write that another one in the meantime defeats. */
  | {
      readonly type: "rotate-root";
      readonly purpose: RotatedPurpose;
      readonly to: RootStage;
      /** The rotateAfter that the rotation is for. */
      readonly rotation: string;
    }
  | { readonly type: "run"; readonly spec: ControlPlaneSpec }
  /** Writes the Secret CLUSTER-kubeconfig with a new client certificate. */
  | {
      readonly type: "write-kubeconfig";
      readonly server: string;
      /** The name that the server's certificate has, where it is not that of `server`. */
      readonly serverName?: string;
    }
  /** Keeps the kubeconfig Secret, should the namespace go, until the control plane is gone. */
  | { readonly type: "hold-kubeconfig"; readonly secret: Secret }
  | { readonly type: "release-kubeconfig"; readonly secret: Secret }
  | { readonly type: "remove" }
  | { readonly type: "remove-finalizer" };
