/** Heat v1, wire-true: https://docs.openstack.org/api-ref/orchestration/v1/ */
import type { CallOptions, CreateOptions, Query } from "./collection.ts";

/** A stack: https://docs.openstack.org/api-ref/orchestration/v1/#stacks . */
export interface Stack {
  id: string;
  stack_name: string;
  description: string;
  /** CREATE_COMPLETE, UPDATE_IN_PROGRESS, DELETE_FAILED, … */
  stack_status: string;
  stack_status_reason: string;
  creation_time: string;
  updated_time: string | null;
  tags: string[] | null;
  parent?: string | null;
  parameters?: Record<string, unknown>;
  outputs?: { output_key: string; output_value?: unknown; description?: string; output_error?: string }[];
  stack_owner?: string | null;
  stack_user_project_id?: string;
}
/** What a stack is created with. */
export interface StackCreate {
  stack_name: string;
  template?: unknown;
  template_url?: string;
  parameters?: Record<string, unknown>;
  environment?: unknown;
  files?: Record<string, string>;
  tags?: string;
  timeout_mins?: number;
  disable_rollback?: boolean;
  /** JSON that abandoning a stack returned: its resources exist. */
  adopt_stack_data?: string;
}
/** What of a stack can be changed. */
export type StackUpdate = Omit<StackCreate, "stack_name">;
/** A resource of a stack. */
export interface StackResource {
  resource_name: string;
  resource_type: string;
  physical_resource_id: string;
  logical_resource_id: string;
  resource_status: string;
  resource_status_reason: string;
  updated_time: string;
  required_by: string[];
  /** Of nested stacks, and in single reads. */
  parent_resource?: string;
  attributes?: Record<string, unknown>;
}
/** An event of a stack's resource. */
export interface StackEvent {
  id: string;
  event_time: string;
  resource_name: string;
  resource_status: string;
  resource_status_reason: string;
  physical_resource_id: string | null;
}
/** A stack's two names in routes. */
export type StackReference = Pick<Stack, "id" | "stack_name">;

/** Heat: https://docs.openstack.org/api-ref/orchestration/v1/ . */
export interface OrchestrationService {
  stacks(query?: Query, options?: CallOptions): AsyncIterable<Stack>;
  /** By id or by name. */
  stack(idOrName: string, options?: CallOptions): Promise<Stack>;
  find(idOrName: string, options?: CallOptions): Promise<Stack | undefined>;
  create(stack: StackCreate, options?: CreateOptions<{ id: string }>): Promise<{ id: string }>;
  /** Replaces the template and parameters (PUT); `keep` takes what is not given from the stack as it is (PATCH). */
  update(stack: StackReference, update: StackUpdate, options?: CallOptions & { keep?: boolean }): Promise<void>;
  /** 404 is success. */
  delete(stack: StackReference, options?: CallOptions): Promise<void>;
  /** Down to `depth` nested stacks; default 0. */
  resources(stack: StackReference, options?: CallOptions & { depth?: number }): Promise<StackResource[]>;
  resource(stack: StackReference, name: string, options?: CallOptions): Promise<StackResource>;
  events(stack: StackReference, query?: Query, options?: CallOptions): AsyncIterable<StackEvent>;
  template(stack: StackReference, options?: CallOptions): Promise<Record<string, unknown>>;
  environment(stack: StackReference, options?: CallOptions): Promise<Record<string, unknown>>;
  /** Abandons the stack: its resources remain, and the response describes them (for adoption by another stack). */
  abandon(stack: StackReference, options?: CallOptions): Promise<Record<string, unknown>>;
}
