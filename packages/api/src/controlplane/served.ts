/** The minor versions of Kubernetes that a hosted control plane serves: those whose API the embedded server has. */
export const SERVED_KUBERNETES: readonly string[] = ["v1.34"];
