import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, records, same } from "../../json/json.ts";
import { forbiddenField, invalidValue } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { internalForm } from "../../wire/internal.ts";
import { define, type Definition } from "../../contract/define.ts";
import type { Resource, Strategy, WriteContext } from "../../contract/resource.ts";

/** A field that keeps the value it was made with. Source: Kubernetes API reference, field by field. */
interface ImmutableField {
  readonly path: string;
  /** How the field is called in what is said; its path by default. */
  readonly called?: string;
  /** Said instead of that it is immutable. */
  readonly refused?: string;
  /** The struct that is shown in kube-apiserver's own form. */
  readonly struct?: string;
}

const IMMUTABLE = "field is immutable";
const refused = (path: string): ImmutableField => ({ path, refused: `updates to ${path} are forbidden.` });

const IMMUTABLE_FIELDS: Readonly<Record<string, readonly ImmutableField[]>> = {
  StorageClass: [
    refused("parameters"),
    refused("provisioner"),
    refused("reclaimPolicy"),
    { path: "volumeBindingMode" },
  ],
  VolumeAttributesClass: [refused("driverName"), refused("parameters")],
  CSIDriver: [{ path: "spec.attachRequired", called: "spec.attachedRequired" }, { path: "spec.volumeLifecycleModes" }],
  PriorityClass: [{ path: "value", refused: "may not be changed in an update." }, { path: "preemptionPolicy" }],
  VolumeAttachment: [{ path: "spec", struct: "storage.VolumeAttachmentSpec" }],
  CSIStorageCapacity: [{ path: "nodeTopology" }, { path: "storageClassName" }],
  RuntimeClass: [{ path: "handler" }],
  ControllerRevision: [{ path: "data" }],
  IngressClass: [{ path: "spec.controller" }],
  ResourceQuota: [{ path: "spec.scopes" }],
  EndpointSlice: [{ path: "addressType" }],
  ResourceClaim: [{ path: "spec", struct: "resource.ResourceClaimSpec" }],
  ResourceClaimTemplate: [{ path: "spec", struct: "resource.ResourceClaimTemplateSpec" }],
  ResourceSlice: [{ path: "spec.driver" }],
};

/** A strategy that refuses changes of the immutable fields of a kind, too. */
export function withImmutableFields(strategy: Strategy = {}): Strategy {
  return {
    ...strategy,
    validate(object, old, context) {
      const found = strategy.validate?.(object, old, context) ?? [];
      if (!old || context.subresource) return found;
      const drivers = object.kind === "CSINode" ? driverChanges(object, old, context) : [];
      const changes = (IMMUTABLE_FIELDS[object.kind] ?? []).flatMap((field) =>
        changed(field, { object, old, context }),
      );
      return [...found, ...changes, ...drivers];
    },
  };
}

interface Update {
  readonly object: KubeObject;
  readonly old: KubeObject;
  readonly context: WriteContext;
}

function changed(
  { path, called, refused: why, struct }: ImmutableField,
  { object, old, context }: Update,
): FieldProblem[] {
  const [now, was] = [at(fields(object), ...path.split(".")), at(fields(old), ...path.split("."))];
  if (same(now, was)) return [];
  const field = called ?? path;
  if (why !== undefined) return [forbiddenField(field, why)];
  const shown = struct === undefined ? (now ?? null) : internalForm(context.cluster.catalog.tables, struct, now);
  return [invalidValue(field, shown, IMMUTABLE)];
}

/** Drivers come and go; one that remains is as it was. */
function driverChanges(object: KubeObject, old: KubeObject, { cluster }: WriteContext): FieldProblem[] {
  const before = records(at(old, "spec", "drivers"));
  return records(at(object, "spec", "drivers")).flatMap((driver) => {
    const was = before.find((b) => b["name"] === driver["name"]);
    if (!was || same(was, driver)) return [];
    const shown = internalForm(cluster.catalog.tables, "storage.CSINodeDriver", driver);
    return [invalidValue("spec.drivers", shown, IMMUTABLE)];
  });
}

/**
 * A kind that is stored for the programs that act on it: read, filled in and checked here, while the API server itself
 * does nothing with it.
 */
export function stored(kind: Definition): Resource {
  return define({ ...kind, strategy: withImmutableFields(kind.strategy) });
}
