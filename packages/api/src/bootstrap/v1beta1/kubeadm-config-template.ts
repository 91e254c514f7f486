import { age } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { within } from "../../lenses/lens.ts";
import { kubeadmLens } from "./lenses.ts";
import { object, optional, templateMetadata } from "../../schema/fields.ts";
import { kubeadmSpecV1Beta1 } from "./kubeadm-config.ts";

const spec = object({ template: object({ metadata: optional(templateMetadata), spec: optional(kubeadmSpecV1Beta1) }) });

/** How v1beta1 differs from the stored version. */
export const kubeadmConfigTemplateV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,

  columns: [age],
  lens: within("spec.template.spec", kubeadmLens),
};
