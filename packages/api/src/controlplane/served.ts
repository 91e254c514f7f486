/** The minor versions of Kubernetes that an embedded control plane serves: those whose API the embedded server has. */
export const SERVED_KUBERNETES: readonly string[] = ["v1.34"];

/**
 * The minor versions whose programs runtime Process runs, oldest first: those that test/programs has upgraded and
 * migrated.
 */
export const RUN_KUBERNETES: readonly string[] = ["v1.33", "v1.34"];
