export type { CallOptions, Collection, CreateOptions, Query, ReadOnlyCollection } from "./types/collection.ts";
export type * from "./types/network.ts";
export type * from "./types/compute.ts";
export type * from "./types/load-balancing.ts";
export type * from "./types/storage.ts";
export type {
  BlockStorageService,
  CallStats,
  Cloud,
  ComputeService,
  ImageService,
  LoadBalancingService,
  NetworkService,
} from "./types/cloud.ts";
export type { CloudChange, CloudInformer, CloudWatch } from "./watch/interface.ts";
