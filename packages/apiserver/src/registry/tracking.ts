import type { KubeObject } from "@causeway/kubernetes";
import { timestamp } from "../json/json.ts";
import { apiVersionOf, type Draft } from "../contract/resource.ts";
import { NO_FIELDS, pathsSet, trackUpdate, type FieldSet, type Typed } from "../patch/index.ts";
import { blankOf } from "../wire/canonical.ts";
import type { Call } from "../contract/call.ts";
import { otherForm } from "./other-forms.ts";

type Form = Parameters<NonNullable<ReturnType<Typed["form"]>>["of"]>[0];

/**
 * Writes into metadata.managedFields which fields this (non-apply) write set: what the writer requested, before the
 * kind's rules change it.
 */
export function tracked(call: Call, before: KubeObject | undefined, draft: Draft): Draft {
  const { resource, version, cluster } = call;
  const seen = (object: KubeObject): KubeObject =>
    resource.custom ? object : (version.fromStored?.(object) ?? object);
  const { metadata } = trackUpdate({
    ...(before ? { before: seen(before) } : {}),
    initial: initialFor(call, draft),
    resetByNone: !resource.custom,
    mayStray: resource.custom,
    after: seen(draft),
    manager: call.fieldManager,
    subresource: call.subresource,
    typed: typedOf(call),
    time: timestamp(cluster.clock.now()),
  });
  return { ...draft, metadata };
}

/** The fields of a new object of a built-in kind before the client's: they have no field manager. */
export function initialFor({ resource, cluster }: Call, object: KubeObject): KubeObject | undefined {
  const { apiVersion, kind } = object;
  const { initialFields } = resource.strategy;
  if (initialFields) return { apiVersion, kind, ...initialFields } as unknown as KubeObject;
  return resource.custom ? undefined : blankOf(cluster.catalog.tables, object);
}

/** How the objects of a call are owned and merged. */
export function typedOf(call: Call): Typed {
  const { resource, version, cluster } = call;
  const apiVersion = apiVersionOf(resource.group, version.name);
  const type = version.schema?.type ?? cluster.catalog.types.ofKind(apiVersion, resource.kind);
  return {
    apiVersion,
    type,
    reset: resetFields(call),
    form(other) {
      const served = resource.versions.find((v) => apiVersionOf(resource.group, v.name) === other);
      return (
        served && {
          type: served.schema?.type ?? type,
          // Of custom resources kube-apiserver knows only the endpoint's own version here: in others a write takes even
          // what it cannot set.
          reset: resource.custom ? NO_FIELDS : resetFields(call),
          of: (object) => otherForm(call, object as unknown as KubeObject, other) as unknown as Form,
        }
      );
    },
  };
}

const STATUS = pathsSet(["status"]);
const SPEC = pathsSet(["spec"]);

/** Fields that writers of a subresource cannot set, beyond the spec. */
const RESET_BY_STATUS: Readonly<Record<string, FieldSet>> = {
  "/pods": pathsSet(["spec"], ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"]),
  "apps/deployments": pathsSet(["spec"], ["metadata", "labels"]),
  "apiextensions.k8s.io/customresourcedefinitions": pathsSet(["spec"], ["metadata"]),
  "certificates.k8s.io/certificatesigningrequests": pathsSet(["spec"], ["status", "conditions"]),
};

function resetFields({ resource, version, subresource }: Call): FieldSet {
  if (subresource === "") return version.subresources?.some((s) => s.name === "status") ? STATUS : NO_FIELDS;
  if (subresource === "status") return RESET_BY_STATUS[`${resource.group}/${resource.plural}`] ?? SPEC;
  if (subresource === "approval") return pathsSet(["spec"], ["status", "certificate"]);
  return subresource === "finalize" ? STATUS : NO_FIELDS;
}
