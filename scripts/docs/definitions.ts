import {
  addonKinds,
  allKinds,
  magnumKinds,
  operatorKinds,
  toCustomResourceDefinition,
  type CustomResourceDefinitionObject,
} from "@causeway/api";
import { stringify } from "yaml";
import type { Page } from "./page.ts";

const HEAD = "# Written by npm run docs from packages/api: do not edit.\n";

/**
 * A file in deploy/crds for each custom resource whose controller runs on any cluster. Cluster API's own kinds, which
 * need a conversion webhook, are part of a provider's release (`causeway generate provider`).
 */
export function definitionFiles(): Page[] {
  const single = allKinds.filter(({ versions, group }) => versions.length === 0 && group.startsWith("controlplane."));
  return [...single, ...magnumKinds, ...addonKinds, ...operatorKinds].map((kind) => {
    const definition = toCustomResourceDefinition(kind);
    return { path: `deploy/crds/${fileOf(definition)}`, text: HEAD + stringify(definition, { lineWidth: 0 }) };
  });
}

function fileOf({ spec }: CustomResourceDefinitionObject): string {
  return `${spec.group}_${spec.names.plural}.yaml`;
}
