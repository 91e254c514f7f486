import type { Clock } from "@causeway/foundation";
import type { ServiceClient } from "../session/client.ts";
import type { ServiceName } from "../types/service-name.ts";
import type { Cloud } from "../types/cloud.ts";
import type { CallOptions } from "../types/collection.ts";
import { createBlockStorageService } from "./block-storage.ts";
import { createComputeService } from "./compute.ts";
import { createContainerInfrastructureService } from "./container-infrastructure.ts";
import { createDnsService } from "./dns.ts";
import { createIdentityService } from "./identity.ts";
import { createImageService } from "./image.ts";
import { createKeyManagerService } from "./key-manager.ts";
import { createLoadBalancingService } from "./load-balancing.ts";
import { createNetworkService } from "./network.ts";
import { createObjectStoreService } from "./object-store.ts";
import { createOrchestrationService } from "./orchestration.ts";
import { createPlacementService } from "./placement.ts";
import { createSharedFileSystemService } from "./shared-file-system.ts";

type ServiceField =
  | "blockStorage"
  | "compute"
  | "containerInfrastructure"
  | "dns"
  | "identity"
  | "image"
  | "keyManager"
  | "loadBalancing"
  | "network"
  | "objectStore"
  | "orchestration"
  | "placement"
  | "sharedFileSystem";
/** The fields of a cloud that are services. */
export type Services = Pick<Cloud, ServiceField>;

/** What services are made from; `currentUser` is the id of the token's user. */
export interface ServiceParts {
  client(service: ServiceName): ServiceClient;
  readonly clock: Clock;
  currentUser(options?: CallOptions): Promise<string>;
}

/** Adds the services to a cloud, each created at its first use. */
export function createServices(cloud: Omit<Cloud, ServiceField>, parts: ServiceParts): Cloud {
  const client = (service: ServiceName): ServiceClient => parts.client(service);
  const makers: { readonly [F in ServiceField]: () => Services[F] } = {
    blockStorage: () => createBlockStorageService(client("block-storage")),
    compute: () => createComputeService(client("compute"), parts.clock),
    containerInfrastructure: () => createContainerInfrastructureService(client("container-infrastructure-management")),
    dns: () => createDnsService(client("dns")),
    identity: () => createIdentityService(client("identity"), (options) => parts.currentUser(options)),
    image: () => createImageService(client("image")),
    keyManager: () => createKeyManagerService(client("key-manager")),
    loadBalancing: () => createLoadBalancingService(client("load-balancer")),
    network: () => createNetworkService(client("network")),
    objectStore: () => createObjectStoreService(client("object-store")),
    orchestration: () => createOrchestrationService(client("orchestration")),
    placement: () => createPlacementService(client("placement")),
    sharedFileSystem: () => createSharedFileSystemService(client("shared-file-system")),
  };
  for (const [field, make] of Object.entries(makers)) {
    Object.defineProperty(cloud, field, { configurable: true, enumerable: true, get: onceMade(cloud, field, make) });
  }
  return cloud as Cloud;
}

/** Puts what it made in its own place. */
function onceMade(cloud: object, field: string, make: () => unknown): () => unknown {
  return () => {
    const value = make();
    Object.defineProperty(cloud, field, { value, enumerable: true });
    return value;
  };
}
