import type { Chapter } from "../interface.ts";
import { access } from "./access.ts";
import { applying } from "./applying.ts";
import { auditing } from "./auditing.ts";
import { connecting } from "./connecting.ts";
import { converting } from "./converting.ts";
import { definitions } from "./definitions.ts";
import { deleting } from "./deleting.ts";
import { discovery } from "./discovery.ts";
import { flowControl } from "./flow-control.ts";
import { flowRefusals } from "./flow-refusals.ts";
import { granting } from "./granting.ts";
import { health } from "./health.ts";
import { compacting } from "./compacting.ts";
import { kubectl } from "./kubectl.ts";
import { identities } from "./identities.ts";
import { judging } from "./judging.ts";
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
import { machinery } from "./machinery.ts";
import { metrics } from "./metrics.ts";
import { naming } from "./naming.ts";
import { openApi } from "./open-api.ts";
import { printing } from "./printing.ts";
import { choosingOnce } from "./choosing-once.ts";
import { jobsAndRuntimes } from "./jobs-and-runtimes.ts";
import { podAdmission } from "./pod-admission.ts";
import { podsChanging } from "./pods-changing.ts";
import { policies } from "./policies.ts";
import { policyWriting } from "./policy-writing.ts";
import { questions } from "./questions.ts";
import { programs } from "./programs.ts";
import { quotas } from "./quotas.ts";
import { reading } from "./reading.ts";
import { refusals } from "./refusals.ts";
import { refusing } from "./refusing.ts";
import { restrictions } from "./restrictions.ts";
import { readingDefinitions } from "./reading-definitions.ts";
import { revisions } from "./revisions.ts";
import { roles } from "./roles.ts";
import { rulesOfSchemas } from "./rules.ts";
import { schemas } from "./schemas.ts";
import { storedRules } from "./stored-rules.ts";
import { selectors } from "./selecting.ts";
import { serviceRanges } from "./service-ranges.ts";
import { shaping } from "./shaping.ts";
import { services } from "./services.ts";
import { standards } from "./standards.ts";
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

export const chapters: readonly Chapter[] = [
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
  definitions,
  readingDefinitions,
  converting,
  naming,
  schemas,
  rulesOfSchemas,
  judging,
  shaping,
  services,
  serviceRanges,
  flowControl,
  flowRefusals,
  health,
  machinery,
  metrics,
  workloads,
  standards,
  printing,
  kubectl,
  wire,
  bodies,
  storedRules,
  refusing,
  compacting,
  access,
  granting,
  auditing,
  identities,
  questions,
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
  choosingOnce,
  jobsAndRuntimes,
  policyWriting,
  webhookConfigurations,
  webhookFailures,
];
