export const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized";
export const shutdownTaint = "node.cloudprovider.kubernetes.io/shutdown";
