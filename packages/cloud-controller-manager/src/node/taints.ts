/** Kubelets with --cloud-provider=external set it; it is removed once the Node has its cloud's metadata. */
export const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized";
/** On Nodes whose server is shut down: no pod is scheduled to them. */
export const shutdownTaint = "node.cloudprovider.kubernetes.io/shutdown";
