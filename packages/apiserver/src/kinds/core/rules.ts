import { invalidValue, required } from "../../errors/problems.ts";
import { at } from "../../json/json.ts";
import { needed, oneOf, type FieldRule } from "../shared/rules.ts";

/*
 * What kube-apiserver refuses of kinds without controllers: required fields, values of enumerations, bounds and names.
 * Source: Kubernetes API reference, field by field.
 */

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** Rules of PodTemplates by field. */
export const TEMPLATE_RULES: readonly FieldRule[] = [["template.spec.containers", needed()]];

/** An error about modes shows the whole list, not a single mode. */
function modeRule(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const modes = Array.isArray(value) ? (value as unknown[]) : [];
  return modes.flatMap((mode) => oneOf(...ACCESS_MODES)(mode, field));
}

/** Rules of PersistentVolumeClaims by field; those about several fields are with the kinds of storage. */
export const CLAIM_RULES: readonly FieldRule[] = [
  ["spec.accessModes", needed("at least 1 access mode is required")],
  ["spec.accessModes", modeRule],
  ["spec.resources", storageRule],
];

/** A claim asks for something. */
function storageRule(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const size = at(value, "requests", "storage");
  const asked = `${field}[storage]`;
  if (size === undefined) return [required(asked)];
  const isNothing = /^(-|0$)/.test(String(size as string));
  return isNothing ? [invalidValue(asked, size, "must be greater than zero")] : [];
}
