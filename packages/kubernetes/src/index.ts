export { isEmptySelector, matchesSelector, selectorText, type SelectorLike } from "./types/selector.ts";
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
export { metadataOf } from "./types/meta.ts";
export type {
  ApplyConfiguration,
  CallOptions,
  DeleteOptions,
  JsonPatchOperation,
  KubernetesClient,
  ListOptions,
  Mirror,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client/interface.ts";
export type { Change, ChangeType, Indexes, Informer, Informers, Unsubscribe } from "./cache/interface.ts";
export type {
  ControllerOptions,
  Difference,
  Plan,
  PlannedEvent,
  Reconcile,
  ReconcileResult,
  Pipeline,
  RunController,
  ShardVisit,
  Shards,
  Source,
  StepAim,
  Wait,
} from "./controller/interface.ts";
export { createClient } from "./client/client.ts";
export type { ClientOptions, ClientOutcome } from "./client/transport.ts";
export {
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
  isUnreachable,
} from "./client/errors.ts";
export { apiVersionOf, collectionPath, objectPath } from "./client/urls.ts";
export type { ClusterConfig, ExecConfig } from "./config/interface.ts";
export { loadKubeconfig, type KubeconfigOptions } from "./config/kubeconfig.ts";
export { inClusterConfig } from "./config/in-cluster.ts";
export { renderKubeconfig, type RenderKubeconfigOptions } from "./config/render.ts";
export { createInformers, type InformersOptions } from "./cache/informers.ts";
export type { MeasuredQueue } from "./controller/queue-measures.ts";
export { WorkQueue, type WorkQueueOptions } from "./controller/work-queue.ts";
export { runController } from "./controller/controller.ts";
export { Brake, type BrakeOptions } from "./controller/brake.ts";
export { differencesOf } from "./controller/brake-event.ts";
export { runPipeline, type Charge, type PipelineOptions } from "./controller/pipeline.ts";
export { collected, watchInformer, watchOwner, watchWith } from "./controller/sources.ts";
export { secretData, secretText } from "./types/secret-text.ts";
export { controllerOf, isControlledBy, isDeleting, keyOf, ownerReference } from "./types/identity.ts";
export {
  CronJob,
  Job,
  type CronJobSpec,
  type CronJobStatus,
  type JobSpec,
  type JobStatus,
  type PodFailurePolicyRule,
  type SuccessPolicyRule,
} from "./types/batch.ts";
export {
  ConfigMap,
  Event,
  Namespace,
  Node,
  nodeBalancers,
  Pod,
  Secret,
  ServiceAccount,
  type Container,
  type ContainerStatus,
  type NodeAddress,
  type NodeCondition,
  type NodeSpec,
  type NodeStatus,
  type ObjectReference,
  type PodSpec,
  type PodStatus,
  type PodTemplateSpec,
  type Taint,
} from "./types/core.ts";
export {
  ControllerRevision,
  DaemonSet,
  Deployment,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
  type DaemonSetSpec,
  type DaemonSetStatus,
  type DeploymentSpec,
  type DeploymentStatus,
  type IntOrString,
  type LabelSelector,
  type LabelSelectorRequirement,
  type ReplicaSetSpec,
  type ReplicaSetStatus,
  type ReplicationControllerSpec,
  type StatefulSetSpec,
  type StatefulSetStatus,
  type VolumeClaimTemplate,
  type WorkloadCondition,
} from "./types/apps.ts";
export {
  Endpoints,
  EndpointSlice,
  Service,
  type Endpoint,
  type EndpointAddress,
  type EndpointSubset,
  type LoadBalancerIngress,
  type ServicePort,
  type ServiceSpec,
  type ServiceStatus,
} from "./types/network.ts";
export {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
  type ClaimCondition,
  type CsiVolumeSource,
  type DataSource,
  type VolumeNodeSelector,
  VolumeAttributesClass,
} from "./types/storage.ts";
export {
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  Lease,
  Role,
  RoleBinding,
  type CertificateSigningRequestCondition,
  type CertificateSigningRequestSpec,
  type CertificateSigningRequestStatus,
  type LeaseSpec,
  type PolicyRule,
  type RoleRef,
  type Subject,
} from "./types/access.ts";
export {
  CustomResourceDefinition,
  type CustomResourceColumn,
  type CustomResourceDefinitionNames,
  type CustomResourceDefinitionSpec,
  type CustomResourceDefinitionStatus,
  type CustomResourceDefinitionVersion,
} from "./types/extension.ts";
export {
  getCondition,
  isTrue,
  microTimestamp,
  setCondition,
  setConditions,
  timestamp,
  type ConditionMoment,
  type NewCondition,
  type WantedCondition,
} from "./status/conditions.ts";
export { compareVersions, readVersion, type KubernetesVersion } from "./types/version.ts";
export { compareStatus } from "./status/same-status.ts";
export { publishStatus, type PublishOptions } from "./status/publish.ts";
export { addFinalizer, removeFinalizer, type FinalizerOptions } from "./status/finalizers.ts";
export { reviewAdmission, reviewDefaults } from "./admission/review.ts";
export {
  admissionWebhooks,
  defaultingWebhooks,
  defaultsConcern,
  rulesConcern,
  withReplacements,
  type AdmissionClient,
  type AdmissionDefaults,
  type AdmissionRequest,
  type AdmissionRules,
  type Replacement,
  type WrittenResource,
} from "./admission/rules.ts";
export { createEventRecorder, type EventRecorder, type EventRecorderOptions } from "./events/recorder.ts";
export { electLeader, type ElectionOptions } from "./election/elect.ts";
export { createSharedWork, MOST_SHARDS, type SharedWork, type SharedWorkOptions } from "./shards/shards.ts";
export { createRemoteClusters, type RemoteClustersOptions } from "./remote/clusters.ts";
export type { RemoteCluster, RemoteClusters } from "./remote/interface.ts";
