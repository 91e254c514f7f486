import Type, { type Static, type TSchema } from "typebox";
import type { Condition } from "@causeway/kubernetes";

/**
 * The words schemas are written in: TypeBox types restricted to what a structural schema may say
 * (apiextensions.k8s.io/v1, "Specifying a structural schema"), each with the bounds the API server holds objects to.
 */

/** An object with these properties; they are required unless they are `optional`. */
export const object: typeof Type.Object = Type.Object;

const HIDDEN = { configurable: true, writable: true, enumerable: false };

/**
 * A property that an object may leave out. What Type.Optional returns, but for what is inside of `schema`: that is
 * shared and not copied: the copies take an eighth of the time in which a manager starts.
 */
export function optional<S extends TSchema>(schema: S): ReturnType<typeof Type.Optional<S>> {
  const members = { ...Object.getOwnPropertyDescriptors(schema), "~optional": { value: true, ...HIDDEN } };
  return Object.defineProperties({}, members) as ReturnType<typeof Type.Optional<S>>;
}

type Described = { readonly description?: string };

/** A string of `min` to `max` characters. */
export function text(min: number, max: number, options: Described & { default?: string; pattern?: string } = {}) {
  return Type.String({ minLength: min, maxLength: max, ...options });
}

/** A string without bounds. */
export function anyText(options: Described & { default?: string } = {}) {
  return Type.String(options);
}

/** An RFC 3339 instant. */
export function instant(options: Described = {}) {
  return Type.String({ format: "date-time", ...options });
}

/** True or false. */
export function flag(options: Described & { default?: boolean } = {}) {
  return Type.Boolean(options);
}

/** An integer of 32 bits. */
export function int32(options: Described & { minimum?: number; maximum?: number; default?: number } = {}) {
  return Type.Integer({ format: "int32", ...options });
}

/** An integer of 64 bits; JavaScript reads those beyond 2^53 without their last digits. */
export function int64(options: Described & { minimum?: number; maximum?: number } = {}) {
  return Type.Integer({ format: "int64", ...options });
}

/** One of a fixed set of strings. */
export function oneOf<const V extends string>(values: readonly V[], options: Described & { default?: V } = {}) {
  return Type.Unsafe<V>({ type: "string", enum: [...values], ...options });
}

/** A number or a string such as a percentage. */
export function intOrString(options: Described & { default?: number | string } = {}) {
  return Type.Unsafe<number | string>({ "x-kubernetes-int-or-string": true, ...options });
}

/** An object from any key to values of one type. */
export function mapOf<S extends TSchema>(value: S, options: Described & { maxProperties?: number } = {}) {
  return Type.Unsafe<Record<string, Static<S>>>({ type: "object", additionalProperties: value, ...options });
}

/** Any JSON value, kept as it is. */
export function anything(options: Described = {}) {
  return Type.Unsafe<unknown>({ "x-kubernetes-preserve-unknown-fields": true, ...options });
}

/** How many items a list may have. */
export type ListBounds = Described & { readonly min?: number; readonly max?: number };

/** A list replaced as a whole. */
export function list<S extends TSchema>(items: S, bounds: ListBounds = {}) {
  return Type.Array(items, { ...limits(bounds), "x-kubernetes-list-type": "atomic" });
}

/** A list without duplicates. */
export function setOf<S extends TSchema>(items: S, bounds: ListBounds = {}) {
  return Type.Array(items, { ...limits(bounds), "x-kubernetes-list-type": "set" });
}

/** A list of objects merged by the value of `keys`. */
export function listByKey<S extends TSchema>(items: S, keys: readonly string[], bounds: ListBounds = {}) {
  return Type.Array(items, {
    ...limits(bounds),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [...keys],
  });
}

function limits({ min, max, description }: ListBounds): Record<string, number | string> {
  return {
    ...(min === undefined ? {} : { minItems: min }),
    ...(max === undefined ? {} : { maxItems: max }),
    ...(description === undefined ? {} : { description }),
  };
}

/** A CEL rule that the API server enforces, with the message of its refusal. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
}

/** A value that these rules hold for. */
export function checked<S extends TSchema>(schema: S, rules: readonly Rule[]): S {
  return Object.defineProperty(schema, "x-kubernetes-validations", { value: rules, enumerable: true });
}

/** A value that, once set, keeps its value: a CEL transition rule that the API server enforces. */
export function immutable<S extends TSchema>(schema: S): S {
  return checked(schema, [{ rule: "self == oldSelf", message: "field is immutable" }]);
}

/** status.conditions of every kind of ours: metav1.Condition, merged by type. */
export function conditions() {
  const item = Type.Unsafe<Condition>({
    type: "object",
    required: ["type", "status", "reason", "lastTransitionTime"],
    properties: {
      type: { type: "string", maxLength: 316 },
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      reason: { type: "string", minLength: 1, maxLength: 1024 },
      message: { type: "string", maxLength: 32768 },
      lastTransitionTime: { type: "string", format: "date-time" },
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
    },
  });
  return optional(listByKey(item, ["type"], { max: 32, description: "What is observed, one entry per aspect." }));
}

/** Labels and annotations of what is made from a template. */
export const templateMetadata = object(
  {
    labels: optional(mapOf(Type.String())),
    annotations: optional(mapOf(Type.String())),
  },
  { description: "Labels and annotations of the objects made from this template." },
);

/** metav1.LabelSelector. */
export const labelSelector = object({
  matchLabels: optional(mapOf(Type.String())),
  matchExpressions: optional(
    list(
      object({
        key: Type.String(),
        operator: Type.String(),
        values: optional(list(Type.String())),
      }),
    ),
  ),
});
