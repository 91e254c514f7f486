export type {
  Condition,
  KubeObject,
  ManagedFieldsEntry,
  ObjectKey,
  ObjectList,
  ObjectMeta,
  OwnerReference,
  Resource,
  ResourceType,
  Status,
} from "./types/meta.ts";
export type {
  ApplyConfiguration,
  CallOptions,
  DeleteOptions,
  JsonPatchOperation,
  KubernetesClient,
  ListOptions,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client/interface.ts";
export type { Change, ChangeType, Indexes, Informer, Informers, Unsubscribe } from "./cache/interface.ts";
export type {
  ControllerOptions,
  Plan,
  PlannedEvent,
  Reconcile,
  ReconcileResult,
  Road,
  RunController,
  Source,
  Wait,
} from "./controller/interface.ts";
