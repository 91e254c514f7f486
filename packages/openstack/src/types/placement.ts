/** Placement, wire-true: https://docs.openstack.org/api-ref/placement/ */
import type { CallOptions, Collection, Query } from "./collection.ts";

/** What provides resources, such as a host. */
export interface ResourceProvider {
  uuid: string;
  name: string;
  generation: number;
  parent_provider_uuid: string | null;
  root_provider_uuid: string;
}
/** How much of a resource a provider has. */
export interface ResourceInventory {
  total: number;
  reserved?: number;
  min_unit?: number;
  max_unit?: number;
  step_size?: number;
  allocation_ratio?: number;
}
/** How much of its resources a consumer has. */
export interface Allocation {
  generation?: number;
  resources: Record<string, number>;
}
/** Providers that could serve a request. */
export interface AllocationCandidates {
  allocation_requests: { allocations: Record<string, Allocation> }[];
  provider_summaries: Record<
    string,
    { resources: Record<string, { capacity: number; used: number }>; traits?: string[] }
  >;
}

/** For administrators. */
export interface PlacementService {
  readonly resourceProviders: Collection<
    ResourceProvider,
    { name: string; uuid?: string; parent_provider_uuid?: string },
    { name: string; parent_provider_uuid?: string }
  >;
  /** By resource class (VCPU, MEMORY_MB, …). */
  inventories(providerId: string, options?: CallOptions): Promise<Record<string, ResourceInventory>>;
  usages(providerId: string, options?: CallOptions): Promise<Record<string, number>>;
  traits(providerId: string, options?: CallOptions): Promise<string[]>;
  /** What a server (or another consumer) has, by provider. */
  allocations(consumerId: string, options?: CallOptions): Promise<Record<string, Allocation>>;
  /** Where something of these sizes would fit: `{ resources: "VCPU:1,MEMORY_MB:512" }`. */
  candidates(query: Query, options?: CallOptions): Promise<AllocationCandidates>;
}
