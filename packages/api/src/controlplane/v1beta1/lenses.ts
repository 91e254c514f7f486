import { kubeadmLens } from "../../bootstrap/v1beta1/lenses.ts";
import { seconds } from "../../lenses/duration.ts";
import { all, moved, within, type Lens } from "../../lenses/lens.ts";
import { reference } from "../../versions/reference.ts";

/** The spec of a KubeadmControlPlane, and of what one is made from. */
export const controlPlaneLens: Lens = all(
  within("kubeadmConfigSpec", kubeadmLens),
  moved("machineNamingStrategy", "machineNaming"),
  reference("machineTemplate.infrastructureRef", "machineTemplate.spec.infrastructureRef"),
  moved("machineTemplate.readinessGates", "machineTemplate.spec.readinessGates"),
  moved("machineTemplate.taints", "machineTemplate.spec.taints"),
  ...["nodeDrainTimeout", "nodeVolumeDetachTimeout", "nodeDeletionTimeout"].map((name) =>
    seconds(`machineTemplate.${name}`, `machineTemplate.spec.deletion.${name}Seconds`),
  ),
  moved("remediationStrategy.maxRetry", "remediation.maxRetry"),
  seconds("remediationStrategy.retryPeriod", "remediation.retryPeriodSeconds"),
  seconds("remediationStrategy.minHealthyPeriod", "remediation.minHealthyPeriodSeconds"),
  moved("rolloutAfter", "rollout.after"),
  moved("rolloutBefore", "rollout.before"),
  moved("rolloutStrategy", "rollout.strategy"),
);
