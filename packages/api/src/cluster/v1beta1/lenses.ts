import { seconds } from "../../lenses/duration.ts";
import { all, each, moved, onlyNewer, within, type Lens } from "../../lenses/lens.ts";
import { reference, templateReference } from "../../versions/reference.ts";

/** Differences that several kinds of cluster.x-k8s.io have in common. */

/** Times of a Machine's deletion, which were durations next to its other fields. */
export const deletionTimeouts: Lens = all(
  seconds("nodeDrainTimeout", "deletion.nodeDrainTimeoutSeconds"),
  seconds("nodeVolumeDetachTimeout", "deletion.nodeVolumeDetachTimeoutSeconds"),
  seconds("nodeDeletionTimeout", "deletion.nodeDeletionTimeoutSeconds"),
);

/** The spec of a Machine within a template: references had an apiVersion and a namespace, times were durations. */
export const machineSpecLens: Lens = all(
  reference("bootstrap.configRef"),
  reference("infrastructureRef"),
  deletionTimeouts,
);

/** The template of a set of Machines: v1beta1 has minReadySeconds at the set. */
export const machineTemplateLens: Lens = all(
  within("template.spec", machineSpecLens),
  moved("minReadySeconds", "template.spec.minReadySeconds"),
);

/** A single Machine of v1beta1 has no minReadySeconds. */
export const singleMachineLens: Lens = all(machineSpecLens, onlyNewer("minReadySeconds"));

/** The checks of a MachineHealthCheck; `older` and `newer` are where they are, each empty or ending with a dot. */
export function healthCheckLens(older: string, newer: string): Lens {
  const nodes = `${newer}checks.unhealthyNodeConditions`;
  const machines = `${newer}checks.unhealthyMachineConditions`;
  return all(
    moved(`${older}unhealthyConditions`, nodes),
    each(nodes, seconds("timeout", "timeoutSeconds")),
    moved(`${older}unhealthyMachineConditions`, machines),
    each(machines, seconds("timeout", "timeoutSeconds")),
    seconds(`${older}nodeStartupTimeout`, `${newer}checks.nodeStartupTimeoutSeconds`),
    moved(`${older}maxUnhealthy`, `${newer}remediation.triggerIf.unhealthyLessThanOrEqualTo`),
    moved(`${older}unhealthyRange`, `${newer}remediation.triggerIf.unhealthyInRange`),
    templateReference(`${older}remediationTemplate`, `${newer}remediation.templateRef`),
  );
}

/** A rollout strategy, of which the stored version has three parts; `inFlight` is where the limit of remediation is. */
export function strategyLens(inFlight: string): Lens {
  return all(
    moved("strategy.rollingUpdate.deletePolicy", "deletion.order"),
    moved("strategy.remediation.maxInFlight", inFlight),
    moved("strategy", "rollout.strategy"),
  );
}
