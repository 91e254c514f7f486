/** The services this kit speaks to, by their official service types. */
export type ServiceName =
  | "identity"
  | "network"
  | "compute"
  | "load-balancer"
  | "image"
  | "block-storage"
  | "shared-file-system"
  | "key-manager"
  | "object-store"
  | "placement"
  | "orchestration"
  | "container-infrastructure-management"
  | "dns";
