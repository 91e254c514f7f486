import { shortList } from "@causeway/foundation";
import { MagnumError } from "./error.ts";
import { isLabelValue, isQualifiedName } from "./kubernetes-names.ts";

const FIELDS = ["key", "value", "effect"];
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** A taint of a node group. */
export interface NodeTaint {
  readonly key: string;
  /** Never empty: a taint with an empty value is one without. */
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

/**
 * The taints of a body, as a MachineDeployment accepts them; problems are named as Magnum names them.
 * @throws MagnumError 409
 */
export function readTaints(attribute: string, given: readonly unknown[]): NodeTaint[] {
  const seen = new Map<string, number>();
  return given.map((each, index): NodeTaint => {
    const place = `node_taints[${index}]`;
    const refuse = (why: string) => new MagnumError(409, `${attribute} is invalid: ${place}${why}.`);
    const { key, effect, value } = fieldsOf(each, refuse);
    if (typeof key !== "string" || key === "") throw refuse(".key is required");
    if (!isQualifiedName(key)) throw refuse(`.key '${key.slice(0, 100)}' is not a qualified name of Kubernetes`);
    if (!isEffect(effect)) throw refuse(`.effect must be one of ${EFFECTS.join(", ")}`);
    const text = value ?? "";
    if (typeof text !== "string") throw refuse(".value must be a text");
    if (!isLabelValue(text))
      throw refuse(`.value '${text.slice(0, 100)}' is not a value of at most 63 characters that Kubernetes accepts`);
    const id = `${key}:${effect}`;
    const first = seen.get(id);
    if (first !== undefined) throw refuse(` has key and effect of node_taints[${first}] (${id})`);
    seen.set(id, index);
    return { key, effect, ...(text === "" ? {} : { value: text }) };
  });
}

function fieldsOf(taint: unknown, refuse: (why: string) => MagnumError): Readonly<Record<string, unknown>> {
  if (typeof taint !== "object" || taint === null || Array.isArray(taint))
    throw refuse(" must be an object with key, effect and optional value");
  const unknown = Object.keys(taint).filter((key) => !FIELDS.includes(key));
  if (unknown.length === 0) return taint as Record<string, unknown>;
  const names = shortList(unknown.toSorted(), 20);
  throw refuse(` contains unrecognised field(s) ${names}; allowed fields are ${FIELDS.join(", ")}`);
}

function isEffect(effect: unknown): effect is NodeTaint["effect"] {
  return typeof effect === "string" && EFFECTS.includes(effect);
}
