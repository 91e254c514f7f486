/** Magnum v1, wire-true: https://docs.openstack.org/api-ref/container-infrastructure-management/ */
import type { CallOptions, Collection } from "./collection.ts";

/** A cluster template of Magnum. */
export interface ClusterTemplate {
  uuid: string;
  name: string;
  coe: string;
  image_id: string;
  keypair_id: string | null;
  flavor_id: string | null;
  master_flavor_id: string | null;
  external_network_id: string;
  fixed_network: string | null;
  fixed_subnet: string | null;
  network_driver: string;
  dns_nameserver: string;
  docker_volume_size: number | null;
  master_lb_enabled: boolean;
  floating_ip_enabled: boolean;
  tls_disabled: boolean;
  public: boolean;
  hidden?: boolean;
  labels: Record<string, string>;
}
/** What a cluster template is created with. */
export type ClusterTemplateCreate = Partial<Omit<ClusterTemplate, "uuid">> & {
  name: string;
  coe: string;
  image_id: string;
  external_network_id: string;
};
/** A cluster of Magnum. */
export interface MagnumCluster {
  uuid: string;
  name: string;
  status: string;
  status_reason: string | null;
  health_status?: string | null;
  cluster_template_id: string;
  keypair: string | null;
  node_count: number;
  master_count: number;
  stack_id: string;
  api_address: string | null;
  master_addresses: string[];
  node_addresses: string[];
  coe_version: string | null;
  labels: Record<string, string>;
}
/** What a cluster is created with. */
export interface MagnumClusterCreate {
  name: string;
  cluster_template_id: string;
  keypair?: string;
  node_count?: number;
  master_count?: number;
  labels?: Record<string, string>;
  create_timeout?: number;
}
/** A node group of a cluster. */
export interface NodeGroup {
  uuid: string;
  name: string;
  cluster_id: string;
  role: string;
  node_count: number;
  min_node_count: number;
  max_node_count: number | null;
  flavor_id: string;
  image_id: string;
  is_default: boolean;
  status?: string;
  labels?: Record<string, string>;
}
/** What a node group is created with. */
export interface NodeGroupCreate {
  name: string;
  role?: string;
  node_count?: number;
  min_node_count?: number;
  max_node_count?: number;
  flavor_id?: string;
  image_id?: string;
  labels?: Record<string, string>;
}
/** RFC 6902. */
export type JsonPatch = readonly { op: "add" | "replace" | "remove"; path: string; value?: unknown }[];

/** Magnum: https://docs.openstack.org/api-ref/container-infrastructure-management/ . */
export interface ContainerInfrastructureService {
  readonly clusterTemplates: Collection<ClusterTemplate, ClusterTemplateCreate, JsonPatch>;
  readonly clusters: Collection<MagnumCluster, MagnumClusterCreate, JsonPatch>;
  nodeGroups(clusterId: string): Collection<NodeGroup, NodeGroupCreate, JsonPatch>;
  /** PEM of the cluster's authority. */
  certificateAuthority(clusterId: string, options?: CallOptions): Promise<string>;
  /** Has a certificate request (PEM) signed by the cluster's authority. */
  sign(
    clusterId: string,
    request: string,
    options?: CallOptions & { type?: "kubernetes" | "etcd" | "front-proxy" },
  ): Promise<string>;
  resize(
    clusterId: string,
    to: { node_count: number; nodes_to_remove?: string[]; nodegroup?: string },
    options?: CallOptions,
  ): Promise<void>;
}
