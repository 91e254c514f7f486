import { define, STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { crdStrategy } from "../../definitions/strategy.ts";
import { CRD_COLUMNS } from "./columns.ts";

/** Kinds of group apiextensions.k8s.io. */
export function extensionKinds(): Resource[] {
  return [
    define({
      group: "apiextensions.k8s.io",
      kind: "CustomResourceDefinition",
      plural: "customresourcedefinitions",
      shortNames: ["crd", "crds"],
      categories: ["api-extensions"],
      clusterScoped: true,
      subresources: [STATUS],
      generation: true,
      columns: CRD_COLUMNS,
      strategy: crdStrategy,
    }),
  ];
}
