import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { instant, int32, int64, object, oneOf, optional, text } from "../schema/fields.ts";

const magnumQuotaSpec = object({
  id: int64({ minimum: 1, description: "The number that clients page by." }),
  projectID: text(1, 255, { description: "The project that is limited." }),
  resource: oneOf(["Cluster"], { description: "What is counted." }),
  hardLimit: int32({ minimum: 0, description: "How many the project may have." }),
  updatedAt: optional(instant({ description: "When it was changed last." })),
});

/** How many clusters a project may have. */
export type MagnumQuotaSpec = Static<typeof magnumQuotaSpec>;
/** How many clusters a project may have through the Magnum API. */
export type MagnumQuota = Resource<MagnumQuotaSpec, never>;

/** Its kind, for clients and for the CRD: `mq`, v1alpha1, without a status. */
export const MagnumQuota: Kind<MagnumQuota> = defineKind({
  group: "magnum.causeway.dev",
  version: "v1alpha1",
  kind: "MagnumQuota",
  description: "How many clusters a project may have through the Magnum API.",
  shortNames: ["mq"],
  columns: [
    column("Project", ".spec.projectID"),
    column("Resource", ".spec.resource"),
    column("Limit", ".spec.hardLimit", { type: "integer" }),
    age,
  ],
  spec: magnumQuotaSpec,
}) as Kind<MagnumQuota>;
