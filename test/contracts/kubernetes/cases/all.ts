import type { CaseGroup } from "../interface.ts";
import { access } from "./access.ts";
import { applying } from "./applying.ts";
import { auditing } from "./auditing.ts";
import { connecting } from "./connecting.ts";
import { converting } from "./converting.ts";
import { customObjects } from "./custom-objects.ts";
import { deleting } from "./deleting.ts";
import { discovery } from "./discovery.ts";
import { flowControl } from "./flow-control.ts";
import { flowRefusals } from "./flow-refusals.ts";
import { rbacGrants } from "./rbac-grants.ts";
import { health } from "./health.ts";
import { compaction } from "./compaction.ts";
import { kubectl } from "./kubectl.ts";
import { identities } from "./identities.ts";
import { celRules } from "./cel-rules.ts";
import { evicting } from "./evicting.ts";
import { smallWriteRules } from "./small-write-rules.ts";
import { servicesAndBindings } from "./services-and-bindings.ts";
import { applyAcrossVersions } from "./apply-across-versions.ts";
import { uidsAndLastFinalizers } from "./uids-and-last-finalizers.ts";
import { ownersAndFinalizers } from "./owners-and-finalizers.ts";
import { conformance } from "./conformance.ts";
import { scaleSubresource } from "./scale-subresource.ts";
import { podWarnings } from "./pod-warnings.ts";
import { podsAndJobs } from "./pods-and-jobs.ts";
import { workloadUpdates } from "./workload-updates.ts";
import { nodesAndLeases } from "./nodes-and-leases.ts";
import { metrics } from "./metrics.ts";
import { crdNames } from "./crd-names.ts";
import { openApi } from "./open-api.ts";
import { kubectlColumns } from "./kubectl-columns.ts";
import { immutableFields } from "./immutable-fields.ts";
import { jobsAndRuntimes } from "./jobs-and-runtimes.ts";
import { podAdmission } from "./pod-admission.ts";
import { podsChanging } from "./pods-changing.ts";
import { policies } from "./policies.ts";
import { policyWriting } from "./policy-writing.ts";
import { accessReviews } from "./access-reviews.ts";
import { programs } from "./programs.ts";
import { quotas } from "./quotas.ts";
import { reading } from "./reading.ts";
import { refusals } from "./refusals.ts";
import { validation } from "./validation.ts";
import { restrictions } from "./restrictions.ts";
import { readCrds } from "./read-crds.ts";
import { revisions } from "./revisions.ts";
import { roles } from "./roles.ts";
import { crdRules } from "./crd-rules.ts";
import { crdSchemas } from "./crd-schemas.ts";
import { storedRules } from "./stored-rules.ts";
import { selectors } from "./selecting.ts";
import { serviceRanges } from "./service-ranges.ts";
import { pruning } from "./pruning.ts";
import { services } from "./services.ts";
import { defaults } from "./defaults.ts";
import { toolkit } from "./toolkit.ts";
import { webhookConfigurations } from "./webhook-configurations.ts";
import { webhookFailures } from "./webhook-failures.ts";
import { webhookMatching } from "./webhook-matching.ts";
import { webhooks } from "./webhooks.ts";
import { watching } from "./watching.ts";
import { webSockets } from "./web-sockets.ts";
import { components, proxying } from "./components.ts";
import { wire } from "./wire.ts";
import { bodies } from "./bodies.ts";
import { workloads } from "./workloads.ts";
import { writing } from "./writing.ts";
import { wrongTypes } from "./wrong-types.ts";
import { apiServices } from "./api-services.ts";

export const caseGroups: readonly CaseGroup[] = [
  smallWriteRules,
  servicesAndBindings,
  ownersAndFinalizers,
  applyAcrossVersions,
  uidsAndLastFinalizers,
  scaleSubresource,
  conformance,
  podsAndJobs,
  workloadUpdates,
  podWarnings,
  discovery,
  openApi,
  reading,
  connecting,
  watching,
  webSockets,
  components,
  proxying,
  revisions,
  selectors,
  writing,
  applying,
  deleting,
  evicting,
  podsChanging,
  customObjects,
  readCrds,
  converting,
  crdNames,
  crdSchemas,
  crdRules,
  celRules,
  pruning,
  services,
  serviceRanges,
  flowControl,
  flowRefusals,
  apiServices,
  health,
  nodesAndLeases,
  metrics,
  workloads,
  defaults,
  kubectlColumns,
  kubectl,
  wire,
  bodies,
  storedRules,
  validation,
  compaction,
  access,
  rbacGrants,
  auditing,
  identities,
  accessReviews,
  restrictions,
  roles,
  toolkit,
  programs,
  refusals,
  wrongTypes,
  webhooks,
  webhookMatching,
  policies,
  quotas,
  podAdmission,
  immutableFields,
  jobsAndRuntimes,
  policyWriting,
  webhookConfigurations,
  webhookFailures,
];
