export { manifest, type Manifest } from "./manifest.ts";
export { credentialsManifest, credentialsOf, managedClusterManifests, type ManagedCluster } from "./managed-cluster.ts";
export { nodePoolManifests, type NodePool } from "./node-pool.ts";
