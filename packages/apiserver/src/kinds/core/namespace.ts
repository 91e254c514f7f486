import { fields, record } from "../../json/json.ts";
import { forbidden } from "../../errors/status.ts";
import type { Strategy } from "../../contract/resource.ts";

/** The resource as messages name it. */
export const NAMESPACES = { group: "", plural: "namespaces" } as const;
const LASTING = new Set(["default", "kube-system", "kube-public"]);

/** A namespace is born holding its contents: spec.finalizers keeps it until they are gone. */
export const namespaceStrategy: Strategy = {
  prepareCreate(draft) {
    const spec = record(draft["spec"]);
    draft["spec"] = { ...spec, finalizers: ["kubernetes"] };
    draft["status"] = { phase: "Active" };
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource !== "finalize") draft["spec"] = fields(old)["spec"];
    if (subresource === "finalize") draft["status"] = fields(old)["status"];
  },
  applyDefaults(draft) {
    draft.metadata.labels = { ...draft.metadata.labels, "kubernetes.io/metadata.name": draft.metadata.name };
  },
  admitDelete({ metadata }) {
    if (LASTING.has(metadata.name)) throw forbidden(NAMESPACES, metadata.name, "this namespace may not be deleted");
  },
};
