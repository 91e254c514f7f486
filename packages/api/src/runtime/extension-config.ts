import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, conditionColumn, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind, type VersionDefinition } from "../schema/define.ts";
import {
  anyText,
  conditions,
  int32,
  labelSelector,
  listByKey,
  mapOf,
  object,
  oneOf,
  optional,
  text,
} from "../schema/fields.ts";
import { within } from "../lenses/lens.ts";
import { deprecatedStatus, oldConditions } from "../versions/shapes.ts";
import { conditionsLens } from "../versions/status.ts";

const extensionConfigSpec = object({
  clientConfig: object(
    {
      url: optional(text(1, 512, { description: "URL of the extension, https://host[:port][/path]." })),
      service: optional(
        object(
          {
            namespace: text(1, 63),
            name: text(1, 63),
            path: optional(text(1, 512, { description: "Path in front of that of a hook." })),
            port: optional(int32()),
          },
          { description: "Service of the extension in this cluster; the port is 443 where none is given." },
        ),
      ),
      caBundle: optional(anyText({ description: "PEM of the authorities of its certificate, in base64." })),
    },
    { description: "How the extension is reached: exactly one of url and service." },
  ),
  namespaceSelector: optional(labelSelector),
  settings: optional(mapOf(anyText(), { description: "Sent with each request to the extension." })),
});

const handlers = optional(
  listByKey(
    object({
      name: text(1, 512, { description: "HANDLER.EXTENSIONCONFIG" }),
      requestHook: object(
        { apiVersion: text(1, 512), hook: text(1, 256, { description: "Name of the hook." }) },
        { description: "The hook that it handles." },
      ),
      timeoutSeconds: optional(int32({ minimum: 1 })),
      failurePolicy: optional(oneOf(["Ignore", "Fail"], { description: "Whether a failed call counts as agreement." })),
    }),
    ["name"],
    { max: 512, description: "What the extension returned for discovery." },
  ),
);

const extensionConfigStatus = object({ conditions: conditions(), handlers, deprecated: deprecatedStatus({}) });

/** How an extension is reached, and for which namespaces it is called. */
export type ExtensionConfigSpec = Static<typeof extensionConfigSpec>;
/** What an extension handles, and whether it could be called. */
export type ExtensionConfigStatus = Static<typeof extensionConfigStatus>;
/** A runtime extension: a server that Cluster API asks at points in the life of a cluster. */
export type ExtensionConfig = Resource<ExtensionConfigSpec, ExtensionConfigStatus>;

/** How v1alpha1 differs from the stored version. */
const v1alpha1: VersionDefinition = {
  version: "v1alpha1",
  spec: extensionConfigSpec,
  status: object({
    conditions: oldConditions(),
    handlers,
    v1beta2: optional(object({ conditions: conditions() })),
  }),
  columns: [age],
  lens: within("status", conditionsLens),
};

/** Its kind, for clients and for the CRD: `ext`, not in a namespace; stored as v1beta2, also served as v1alpha1. */
export const ExtensionConfig: Kind<ExtensionConfig> = defineKind({
  group: "runtime.cluster.x-k8s.io",
  version: "v1beta2",
  versions: [v1alpha1],
  kind: "ExtensionConfig",
  namespaced: false,
  description: "A runtime extension: a server that Cluster API asks at points in the life of a cluster.",
  shortNames: ["ext"],
  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [conditionColumn("Discovered", "Discovered"), paused, age],
  spec: extensionConfigSpec,
  status: extensionConfigStatus,
});
