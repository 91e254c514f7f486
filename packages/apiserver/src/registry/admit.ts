import type { KubeObject } from "@causeway/kubernetes";
import type { Attempt, GroupVersionKind, Operation } from "../contract/admission.ts";
import { fields, same, type Json } from "../json/json.ts";
import { inVersion, type Draft } from "../contract/resource.ts";
import { apiError } from "../errors/status.ts";
import { draftOf } from "./body.ts";
import { charged, type Call } from "../contract/call.ts";

/** The way of one write through admission. A step without a plugin is absent, so that nothing is awaited for it. */
export interface Gate {
  /** The draft as mutating admission leaves it: the same one if nothing changed. */
  readonly mutate?: (draft: Draft, old: KubeObject | undefined) => Promise<Draft>;
  readonly validate?: (draft: Draft | undefined, old: KubeObject | undefined) => Promise<void>;
}

/** The same in wire objects, for subresources whose bodies are of another kind. */
export interface WireGate {
  readonly mutate?: Step<KubeObject | undefined> | undefined;
  readonly validate?: Step<void> | undefined;
}

type Step<Result> = (object: KubeObject | undefined, old: KubeObject | undefined) => Promise<Result>;

/** What is not checked: writes that are parts of an admitted one. */
export const OPEN: Gate = {};

/** How a write of the called resource passes admission. */
export function gateOf(call: Call, operation: Operation): Gate {
  const { mutate, validate } = wireGateOf(call, operation);
  if (!mutate && !validate) return OPEN;
  if (operation === "DELETE") return { validate: (_, old) => leave(call, { mutate, validate }, old) };
  return {
    ...(mutate ? { mutate: (draft, old) => mutated(call, mutate, { draft, old }) } : {}),
    ...(validate ? { validate: (draft, old) => validate(seen(call, draft, old), seen(call, old)) } : {}),
  };
}

/** How a write of wire objects passes admission; `kind` where they are not of the called resource's own. */
export function wireGateOf(call: Call, operation: Operation, kind: GroupVersionKind = kindOf(call)): WireGate {
  const { admission } = call.cluster;
  const about = (object: KubeObject | undefined, old: KubeObject | undefined): Attempt => {
    return { call, operation, kind, object, old, options: optionsOf(call, operation) };
  };
  const mutates = admission.concerns(call, operation, "mutate");
  const validates = admission.concerns(call, operation, "validate");
  return {
    ...(mutates ? { mutate: (object, old) => charged(call, () => admission.mutate(about(object, old))) } : {}),
    ...(validates ? { validate: (object, old) => charged(call, () => admission.validate(about(object, old))) } : {}),
  };
}

/** A body that is not stored, such as a Binding, passes both steps at once. */
export async function admitted(call: Call, body: KubeObject): Promise<KubeObject> {
  const gate = wireGateOf(call, "CREATE");
  const changed = gate.mutate ? ((await gate.mutate(body, undefined)) ?? body) : body;
  await gate.validate?.(changed, undefined);
  return changed;
}

/** Mutating admission may refuse a deletion too; there is nothing for it to change. */
async function leave(call: Call, { mutate, validate }: WireGate, old: KubeObject | undefined): Promise<void> {
  const shown = seen(call, old);
  await mutate?.(undefined, shown);
  await validate?.(undefined, shown);
}

function kindOf({ resource, version, subresource }: Call): GroupVersionKind {
  const type = version.subresources?.find((s) => s.name === subresource)?.type;
  return type ?? { group: resource.group, version: version.name, kind: resource.kind };
}

/**
 * The options of every operation are of a kind of their own, whichever verb requested it: an apply may create. A
 * connection has none.
 */
const OPTIONS: Readonly<Partial<Record<Operation, string>>> = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
};

function optionsOf(call: Call, operation: Operation): Json | null {
  const kind = OPTIONS[operation];
  if (kind === undefined) return null;
  return { ...(call.options?.() ?? dryRunOf(call)), kind, apiVersion: "meta.k8s.io/v1" };
}

function dryRunOf({ dryRun }: Call): Json {
  return dryRun ? { dryRun: ["All"] } : {};
}

function seen(call: Call, draft: KubeObject | undefined, old?: KubeObject): KubeObject | undefined {
  if (draft === undefined) return undefined;
  const shown = inVersion(call.resource, call.version, draft);
  const { resourceVersion } = old?.metadata ?? {};
  if (!resourceVersion || shown.metadata.resourceVersion) return shown;
  return { ...shown, metadata: { ...shown.metadata, resourceVersion } };
}

async function mutated(
  call: Call,
  mutate: NonNullable<WireGate["mutate"]>,
  { draft, old }: { draft: Draft; old: KubeObject | undefined },
): Promise<Draft> {
  const shown = seen(call, draft, old) ?? draft;
  const answered = await mutate(shown, seen(call, old));
  if (!answered || answered === shown || same(fields(answered), fields(shown))) return draft;
  const unreadable = (problem: string): Error => apiError(500, "InternalError", `Internal error occurred: ${problem}`);
  return draftOf({ ...call, fieldValidation: "Ignore" }, answered, { refuse: unreadable });
}
