import type { KubeObject } from "@causeway/kubernetes";
import { defaultStorageClass } from "../../admission/builtin/classes.ts";
import { admitLimits } from "../../admission/builtin/limits.ts";
import { protectedBy } from "../../admission/builtin/protection.ts";
import { refusal } from "../../admission/builtin/refusal.ts";
import { at, fields, isRecord, record, same, text, type Json } from "../../json/json.ts";
import { forbiddenField, invalidValue } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { internalForm } from "../../wire/internal.ts";
import { comparableAmounts, nanosOf } from "../../syntax/quantity.ts";
import type { Tables } from "../../wire/tables.ts";
import { lineDiff } from "../shared/line-diff.ts";
import type { ClusterView, Strategy } from "../../contract/resource.ts";
import { checked } from "../shared/rules.ts";
import { CLAIM_RULES } from "./rules.ts";
import { claimProblems } from "../storage/volume-rules.ts";

/*
 * What of a claim may change once it is there. Source: Kubernetes, "Persistent Volumes", Expanding Persistent Volumes
 * Claims; KEP-1790.
 */

/** The older place of the class. */
const CLASS = "volume.beta.kubernetes.io/storage-class";
const STRUCT = "core.PersistentVolumeClaimSpec";
const FIXED =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

const plain = checked(CLAIM_RULES, ({ spec }) => claimProblems(record(spec)));

const protect = protectedBy("kubernetes.io/pvc-protection");

/**
 * Rules of PersistentVolumeClaims: default class, protection, limits, and the only changes of a spec: growth and the
 * attributes class.
 */
export const claimStrategy: Strategy = {
  mutate(claim, context) {
    void protect(claim, context);
    return defaultStorageClass(claim, context);
  },
  validate(object, old, context) {
    const found = plain.validate?.(object, old, context) ?? [];
    if (!old || context.subresource) return found;
    return [...found, ...updateProblems(object, old, context.cluster.catalog.tables)];
  },
  admit(object, old, context) {
    admitLimits(object, old, context);
    if (old && context.subresource === "" && grows(object, old)) admitGrowth(object, context.cluster);
  },
};

const specOf = (claim: KubeObject): Json => record(fields(claim)["spec"]);
const requested = (claim: KubeObject): bigint => nanosOf(at(claim, "spec", "resources", "requests", "storage")) ?? 0n;
const grows = (object: KubeObject, old: KubeObject): boolean => requested(object) > requested(old);

function updateProblems(object: KubeObject, old: KubeObject, tables: Tables): FieldProblem[] {
  const spec = specOf(object);
  const allowed = allowedOf(object, old);
  const problems: FieldProblem[] = [];
  if (!same(comparable(spec), comparable(allowed))) {
    const lines = [allowed, spec].map((s) => JSON.stringify(internalForm(tables, STRUCT, s), null, 1).split("\n"));
    problems.push(forbiddenField("spec", `${FIXED}\n${lineDiff(lines[0] ?? [], lines[1] ?? [])}`));
  }
  const capacity = nanosOf(at(old, "status", "capacity", "storage") ?? "0") ?? 0n;
  if (requested(object) < requested(old) && requested(object) <= capacity) {
    problems.push(forbiddenField("spec.resources.requests.storage", "field can not be less than status.capacity"));
  }
  const [noted, before] = [object, old].map((claim) => claim.metadata.annotations?.[CLASS]);
  const isMoved = noted === undefined && before === spec["storageClassName"];
  if (noted !== before && !isMoved) {
    problems.push(invalidValue(`metadata.annotations.${CLASS}`, noted ?? "", "field is immutable"));
  }
  const mode = spec["volumeMode"];
  if (mode === specOf(old)["volumeMode"]) return problems;
  return [...problems, invalidValue("volumeMode", mode ?? null, "field is immutable")];
}

/** The old spec with what may have changed: what was not chosen yet, and of a bound claim what it asks for. */
function allowedOf(object: KubeObject, old: KubeObject): Json {
  const [spec, was] = [specOf(object), specOf(old)];
  const allowed = { ...was };
  const take = (name: string): void => {
    if (spec[name] === undefined) delete allowed[name];
    else allowed[name] = spec[name];
  };
  if (text(was["volumeName"]) === "") take("volumeName");
  const noted = old.metadata.annotations?.[CLASS];
  const isFirst = was["storageClassName"] === undefined && spec["storageClassName"] !== undefined;
  if (isFirst && (noted === undefined || noted === spec["storageClassName"])) take("storageClassName");
  if (at(old, "status", "phase") !== "Bound") return allowed;
  take("volumeAttributesClassName");
  const requests = at(spec, "resources", "requests");
  return { ...allowed, resources: { ...record(was["resources"]), ...(isRecord(requests) ? { requests } : {}) } };
}

/** Amounts that are the same in other words are the same. */
function comparable(spec: Json): Json {
  const { limits, requests } = record(spec["resources"]);
  return { ...spec, resources: { limits: comparableAmounts(limits), requests: comparableAmounts(requests) } };
}

/** A claim grows where its class says that its volumes can. Throws 403. */
function admitGrowth(claim: KubeObject, cluster: ClusterView): void {
  const found = classOf(claim, cluster);
  if (found && fields(found)["allowVolumeExpansion"] === true) return;
  const why =
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
  throw refusal({ group: "", plural: "persistentvolumeclaims" }, claim, why);
}

function classOf(claim: KubeObject, { name: cluster, store }: ClusterView): KubeObject | undefined {
  const name = claim.metadata.annotations?.[CLASS] ?? text(specOf(claim)["storageClassName"]);
  if (name === "") return undefined;
  return store.get({ cluster, resource: "storage.k8s.io/storageclasses", namespace: "", name })?.object;
}
