/** Names that objects of a deployment carry. */
export const labels = {
  deployment: "openstack.causeway.dev/deployment",
  component: "openstack.causeway.dev/component",
  service: "openstack.causeway.dev/service",
  /** Immutable configuration and credentials, which are removed when no pod refers to them. */
  revision: "openstack.causeway.dev/revision",
  /** Pods whose port "metrics" is to be read. */
  metrics: "openstack.causeway.dev/metrics",
  /** A run of what has its times: a backup. */
  run: "openstack.causeway.dev/run",
  /** Objects of other operators: they hold data, and nothing that searches for objects of ours finds their children. */
  backendOf: "openstack.causeway.dev/backend-of",
  /** Kubernetes' own label for the program that an object is managed by. */
  managedBy: "app.kubernetes.io/managed-by",
} as const;

/** Annotations of objects of a deployment. */
export const annotations = {
  /** Digest of what a Job depends on. */
  inputs: "openstack.causeway.dev/inputs",
  /** The backup whose passwords a Secret has. */
  restored: "openstack.causeway.dev/restored",
  /** Further cells that Nova's processes know since they started. */
  cells: "openstack.causeway.dev/cells",
  /** The release whose messages Nova's processes send. */
  messages: "openstack.causeway.dev/messages",
} as const;

/** The field manager of all writes. */
export const fieldManager = "causeway-openstack-operator";
