import { age } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { within } from "../../lenses/lens.ts";
import { controlPlaneLens } from "./lenses.ts";
import {
  anyText,
  instant,
  int32,
  intOrString,
  object,
  oneOf,
  optional,
  templateMetadata,
  text,
} from "../../schema/fields.ts";
import { kubeadmSpecV1Beta1 } from "../../bootstrap/v1beta1/kubeadm-config.ts";
import { machineTaints } from "../../cluster/shapes.ts";

const spec = object({
  template: object({
    metadata: optional(templateMetadata),
    spec: object({
      kubeadmConfigSpec: kubeadmSpecV1Beta1,
      machineNamingStrategy: optional(object({ template: optional(text(1, 256)) })),
      machineTemplate: optional(
        object({
          metadata: optional(templateMetadata),
          nodeDeletionTimeout: optional(anyText()),
          nodeDrainTimeout: optional(anyText()),
          nodeVolumeDetachTimeout: optional(anyText()),
          taints: optional(machineTaints),
        }),
      ),
      remediationStrategy: optional(
        object({
          maxRetry: optional(int32()),
          minHealthyPeriod: optional(anyText()),
          retryPeriod: optional(anyText()),
        }),
      ),
      rolloutAfter: optional(instant()),
      rolloutBefore: optional(object({ certificatesExpiryDays: optional(int32()) })),
      rolloutStrategy: optional(
        object(
          {
            rollingUpdate: optional(object({ maxSurge: optional(intOrString()) })),
            type: optional(oneOf(["RollingUpdate"])),
          },
          { default: { rollingUpdate: { maxSurge: 1 }, type: "RollingUpdate" } },
        ),
      ),
    }),
  }),
});

/** How v1beta1 differs from the stored version. */
export const kubeadmControlPlaneTemplateV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,

  columns: [age],
  lens: within("spec.template.spec", controlPlaneLens),
};
