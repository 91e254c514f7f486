import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { instant, object, optional, text } from "../schema/fields.ts";
import { templateAttributes } from "./shapes.ts";

/** The attributes of a template, of which each cluster keeps those that it was made from. */
export const magnumTemplate = object(templateAttributes, { description: "The attributes of a cluster template." });
/** The attributes that clusters take from their template. */
export type MagnumTemplateAttributes = Static<typeof magnumTemplate>;

const magnumClusterTemplateSpec = object({
  uuid: text(36, 36, { description: "The id that clients use." }),
  name: text(1, 255, { description: "Name. Templates may share one; then clients have to use the id." }),
  projectID: text(1, 255, { description: "The project that owns it." }),
  userID: text(1, 255, { description: "The user who created it." }),
  updatedAt: optional(instant({ description: "When it was changed last." })),
  template: magnumTemplate,
});

/** A cluster template of the Magnum API. */
export type MagnumClusterTemplateSpec = Static<typeof magnumClusterTemplateSpec>;
/** What clusters of the Magnum API are made from. */
export type MagnumClusterTemplate = Resource<MagnumClusterTemplateSpec, never>;

/** Its kind, for clients and for the CRD: `mct`, v1alpha1, without a status. */
export const MagnumClusterTemplate: Kind<MagnumClusterTemplate> = defineKind({
  group: "magnum.causeway.dev",
  version: "v1alpha1",
  kind: "MagnumClusterTemplate",
  description:
    "What clusters of the Magnum API are made from. A cluster keeps a copy: a later change is not one of the cluster.",
  shortNames: ["mct"],
  columns: [
    column("Name", ".spec.name"),
    column("UUID", ".spec.uuid"),
    column("Image", ".spec.template.imageID"),
    column("Public", ".spec.template.public", { type: "boolean" }),
    age,
  ],
  spec: magnumClusterTemplateSpec,
}) as Kind<MagnumClusterTemplate>;
